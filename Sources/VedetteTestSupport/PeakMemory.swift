// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The peak memory of this process, for tests in a process of their own.
public enum PeakMemory {
    /// In bytes (proc(5), VmHWM).
    public static func bytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        guard let kilobytes = line.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return kilobytes * 1024
    }
}
