// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore
import VedetteSystem

/// Reads the output and the exit of jq.
enum JQOutput {
    /// Returns the values as one body. Compact output has one value on each line, since a line end inside a text is escaped.
    /// Several values become an array, and none becomes an empty one: `.[] | select(…)` may select nothing.
    static func value(_ out: [UInt8]) -> [UInt8] {
        let lines = out.split(separator: 10)
        if lines.count == 1 { return Array(lines[0]) }
        return [UInt8(ascii: "[")] + lines.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }

    /// Returns the error of a run; nil when it succeeded.
    static func problem(of run: ChildProcess.Output) -> ReadError? {
        let message = message(run.errorOutput)
        // jq aborts at the limit on address space.
        if message.contains("cannot allocate memory") {
            return ReadError(
                .tooLarge,
                "jq needs more than \(JQTransformer.addressSpace >> 20) MiB of memory; make the program simpler")
        }
        switch run.exit {
        case .status(0): return nil
        case .status(3): return ReadError(.configuration, "the jq program is not valid: \(message)")
        case .status: return ReadError(.shape, message.isEmpty ? "jq failed" : "jq cannot read this body: \(message)")
        case .signal(SIGKILL), .signal(SIGXCPU):
            return ReadError(
                .timeout, "jq took more than \(JQTransformer.cpuSeconds) s of CPU; make the program simpler")
        case .signal(let signal): return ReadError(.shape, "jq was ended by signal \(signal)")
        case .unknown: return ReadError(.shape, "jq ended, but its exit status was lost")
        }
    }

    /// Returns jq's message without its name and place in front and without the count of errors behind.
    private static func message(_ errorOutput: [UInt8]) -> String {
        var text = String(decoding: errorOutput, as: UTF8.self).unicodeScalars.map {
            $0.properties.generalCategory == .control ? " " : String($0)
        }.joined().split(separator: " ").joined(separator: " ")
        for prefix in ["jq: ", "error: ", "error ", "(at <stdin>:0): ", "(at <stdin>:1): ", "(at <unknown>): "]
        where text.hasPrefix(prefix) { text.removeFirst(prefix.count) }
        if let end = text.range(of: " jq: "), text[end.upperBound...].hasSuffix("compile error") {
            text = String(text[..<end.lowerBound])
        }
        return text.count > 300 ? text.prefix(300) + "…" : text
    }
}
