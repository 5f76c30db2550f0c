// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads request headers: name to text or secret (RFC 9110 §5).
struct HeaderReader {
    let values: ValueReader

    private var findings: Findings { values.findings }

    /// Headers that the transfer sets.
    /// Headers that libcurl sets, in lower case.
    static let reserved: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade", "expect",
        "accept-encoding",
    ]

    func headers(_ node: YAMLNode) -> [Header] {
        guard let entries = node.entries("'headers'", findings) else { return [] }
        var seen = Set<String>()
        return entries.compactMap { entry in
            guard seen.insert(entry.name.lowercased()).inserted else {
                findings.error(entry.key.place, "the header '\(entry.name)' is written twice; keep one")
                return nil
            }
            return header(entry)
        }
    }

    private func header(_ entry: YAMLEntry) -> Header? {
        let lowercased = entry.name.lowercased()
        guard HTTPSyntax.isToken(entry.name) else {
            findings.error(
                entry.key.place, "'\(entry.name)' is not a header name; it takes letters, digits and '-'")
            return nil
        }
        guard !HeaderReader.reserved.contains(lowercased) else {
            findings.error(entry.key.place, "the header '\(entry.name)' is set by the transfer; remove it")
            return nil
        }
        let what = "the header '\(entry.name)'"
        if entry.value.isMap || Header.isUsuallySecret(entry.name) {
            return values.secrets.secret(entry.value, what).map { Header(entry.name, $0) }
        }
        guard case .text(let text)? = values.value(entry.value, .line, what) else { return nil }
        if text.contains("{{") {
            findings.error(entry.value.place, "\(what) is sent as it is written, so it takes no template; write a text")
        }
        return Header(entry.name, text)
    }
}
