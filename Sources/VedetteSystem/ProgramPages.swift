// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The machine code of this program, as far as its pages are resident.
public enum ProgramPages {
    /// Unmaps the pages of the program's code. They are those of the kernel's cache of files, from which code that runs again is
    /// mapped again, sixteen pages at a time; the kernel may reclaim the rest like those of any file.
    ///
    /// What reads a configuration and opens a journal runs once. A watcher of 100 sources at rest had 25 MB of its code resident,
    /// and used less than 4 MB of it.
    public static func release() { ProgramPages.path.map(release) }

    /// Does it for the code in one file.
    static func release(_ program: String) {
        guard let file = fopen("/proc/self/smaps", "re") else { return }
        defer { fclose(file) }
        var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        var code: Range<UInt>?
        while getline(&line, &capacity, file) > 0 {
            guard let line else { continue }
            let text = String(cString: line)
            if let mapping = Mapping(text) { code = mapping.isCode && mapping.path == program ? mapping.range : nil }
            // What was written to a mapping, as a debugger writes its breakpoints, is nowhere else.
            guard let range = code, text.hasPrefix("Anonymous:") else { continue }
            code = nil
            guard text.split(separator: " ").dropFirst().first == "0" else { continue }
            // Libraries are left alone: another thread may unload one.
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), Int(range.count), MADV_DONTNEED)
        }
    }

    /// A mapping of /proc/PID/smaps (proc_pid_maps(5)).
    struct Mapping {
        let range: Range<UInt>
        /// It is executable, private and not writable.
        let isCode: Bool
        let path: Substring

        /// Nil for a line that begins no mapping.
        init?(_ line: String) {
            let parts = line.split(separator: " ", maxSplits: 5)
            let ends = (parts.first ?? "").split(separator: "-").map { UInt($0, radix: 16) }
            guard parts.count >= 5, ends.count == 2, let start = ends[0], let end = ends[1], start < end else {
                return nil
            }
            (range, isCode) = (start..<end, parts[1] == "r-xp")
            path = parts.count == 6 ? parts[5].drop { $0 == " " }.prefix { $0 != "\n" } : ""
        }
    }

    /// The program's file, as mappings name it, also when that was deleted.
    private static var path: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}
