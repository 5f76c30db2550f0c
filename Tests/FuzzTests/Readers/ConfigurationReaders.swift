// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore
import VedetteSinks
import VedetteSources

@testable import VedetteConfig

/// Readers of the files that users write.
extension FuzzReader {
    private static let yaml = [
        "\n", "\n  ", "\n- ", ": ", ":", "- ", "{", "}", "[", "]", ", ", "\"", "'", "#", "&a ", "*a", "<<: *a", "|",
        ">-", "!!str ", "---\n",
        "~", "null", "true", "0", "-1", "1e400", "99999999999d", "1s", "\t", "é", "\u{202e}", "sources:", "sinks:",
        "rules:", "servers:",
        "windows:", "settings:", "when: ", "any: ", "not: ", "for: ", "limit: ", "quiet: ", "notify: ", "tests: ",
        "item: ", "regex: ", "(a+)+$",
        "{{item.title}}", "{{", "https://h/", "http://[", "kind: json", "items: a.b[0]", "{env: X}", "every: 15s",
        "daily: \"22:00-07:00\"",
    ]

    /// The examples under `rules/`, without the lines that name programs: a mutation must not start one.
    private static func examples(_ folder: String) throws -> [[UInt8]] {
        try files("../rules/" + folder, suffixes: [".yaml"]).map { bytes in
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            return Array(
                lines.filter { !$0.contains("command") && !$0.hasPrefix("# yaml-language") }.joined(separator: "\n")
                    .utf8)
        }
    }

    static let configuration = [
        FuzzReader(
            "configuration", words: yaml, samples: { try examples("") + examples("presets") },
            check: {
                let loader = ConfigurationLoader(
                    sourceKinds: SourceKinds.all, sinkKinds: SinkKinds.all,
                    environment: ["X": "value", "HOME": "/nonexistent"])
                return { bytes in
                    let text = String(decoding: bytes, as: UTF8.self)
                    // A secret by `command:` would start it, and `file:` and `netrc:` wait where they name a device.
                    guard !["command", "file", "netrc"].contains(where: text.contains) else { return nil }
                    let file = ConfigurationFile(path: "a.yaml", text: text, isPrivate: true)
                    let loaded = loader.load([file])
                    // What ends a line of YAML 1.1 (§5.4).
                    let ends: Set<Unicode.Scalar> = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]
                    return finding(in: loaded, lines: text.unicodeScalars.count(where: ends.contains) + 2)
                }
            }),
        FuzzReader(
            "netrc",
            words: [
                "machine ", "default ", "login ", "password ", "account ", "macdef ", "\n", "\n\n", " ", "\t", "\"",
                "\\", "\\\"", "#", "é",
                "\u{0}",
            ],
            texts: [
                "machine a.example.org login me password p1\ndefault login x password \"a b\\\"c\"",
                "# note\nmachine b\n  login you\n  password #1\nmacdef init\ncd /\n\nmachine c password y",
            ],
            check: {
                { bytes in
                    let text = String(decoding: bytes, as: UTF8.self)
                    do throws(Netrc.Problem) {
                        _ = try Netrc(text).login(for: "a.example.org")
                        return nil
                    } catch {
                        let lines = text.unicodeScalars.count { $0 == "\n" } + 1
                        return (1...lines).contains(error.line) ? nil : "an error in line \(error.line) of \(lines)"
                    }
                }
            }),
    ]

    private static func finding(in loaded: Loaded, lines: Int) -> String? {
        let errors = loaded.diagnostics.filter { $0.severity == .error }
        if (loaded.configuration == nil) != !errors.isEmpty {
            return "\(errors.count) errors, and a configuration or none"
        }
        if let place = loaded.diagnostics.first(where: { !(0...lines).contains($0.line) || $0.column < 0 }) {
            return "no such place: \(place)"
        }
        if let empty = loaded.diagnostics.first(where: { $0.message.isEmpty || $0.file.isEmpty }) {
            return "no sentence: \(empty)"
        }
        return nil
    }
}
