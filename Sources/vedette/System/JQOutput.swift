// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore

/// What jq put out and how it ended.
enum JQOutput {
    /// Compact output is one value a line, since a line end inside a text is escaped. Several are an array, and none is an
    /// empty one: `.[] | select(…)` may well select nothing.
    static func value(_ out: [UInt8]) -> [UInt8] {
        let lines = out.split(separator: 10)
        if lines.count == 1 { return Array(lines[0]) }
        return [UInt8(ascii: "[")] + lines.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }

    /// Nil when it ended well.
    static func problem(of output: BoundedChild.Output) -> ReadError? {
        let signal = output.status & 0x7F
        let said = words(output.said)
        // A limit on address space ends as an abort of jq's own.
        if said.contains("cannot allocate memory") {
            return ReadError(
                .tooLarge, "jq needs more than \(JQTransformer.memory >> 20) MiB of memory; make the program simpler")
        }
        switch (signal, output.status >> 8 & 0xFF) {
        case (0, 0): return nil
        case (0, 3): return ReadError(.configuration, "the jq program is not valid: \(said)")
        case (0, _): return ReadError(.shape, said.isEmpty ? "jq failed" : "jq cannot read this body: \(said)")
        case (SIGKILL, _), (SIGXCPU, _):
            return ReadError(
                .timeout, "jq took more than \(JQTransformer.mostSeconds) s of CPU; make the program simpler")
        default: return ReadError(.shape, "jq was ended by signal \(signal)")
        }
    }

    /// Its own message without the name and place that stand in front, and without the count of errors behind.
    private static func words(_ said: [UInt8]) -> String {
        var text = String(decoding: said, as: UTF8.self).unicodeScalars.map {
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

enum JQProgram {
    /// True for a program that begins, after comments, with a directive that reads a file; jq takes them nowhere else.
    static func readsFiles(_ program: String) -> Bool {
        var rest = program[...]
        while let first = rest.first, first.isWhitespace || first == "#" {
            rest = first == "#" ? rest.drop { !$0.isNewline } : rest.dropFirst()
        }
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return ["import", "include", "module"].contains(word)
    }
}
