// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Removes a query credential from the URLs in a response: they become fields, next pages and rows of the journal (I9).
struct QueryRedactor {
    private let name: String
    /// The parameter as it may appear inside the value of another one.
    private let nested: [String]
    private let secret: String

    /// Nil for credentials that are not part of a URL.
    init?(_ credentials: Credentials?) {
        guard case .query(let name, let secret) = credentials else { return nil }
        (self.name, self.secret) = (name, secret.value)
        nested = ["\(name)=\(secret.value)", "\(WebURL.encoded(name))=\(WebURL.encoded(secret.value))"]
    }

    /// Returns a query without the parameter.
    func removed(from query: Substring) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).filter { !hasCredential($0) }
            .joined(separator: "&")
    }

    /// Whether a parameter is the credential, or contains a URL that has it, such as where a login returns to.
    private func hasCredential(_ pair: Substring) -> Bool {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        var value = FormEncoding.decoded(parts[1])
        if FormEncoding.decoded(parts[0]) == name, value == secret { return true }
        for _ in 0..<3 {
            if nested.contains(where: { value.contains($0) }) { return true }
            value = FormEncoding.decoded(value)
        }
        return false
    }

    // MARK: Headers

    private static let urlHeaders: Set<String> = ["location", "content-location", "refresh", "link"]

    /// Returns header lines without the parameter; other lines stay byte for byte.
    func removed(fromLines lines: [UInt8]) -> [UInt8] {
        Array(lines.split(separator: 10, omittingEmptySubsequences: false).map(clean).joined(separator: [10]))
    }

    private func clean(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let colon = line.firstIndex(of: 58), line.contains(63) else { return line }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        guard QueryRedactor.urlHeaders.contains(name) else { return line }
        let text = String(decoding: line[colon...], as: UTF8.self)
        // Link has a list of URLs, each in angle brackets (RFC 8288 §3).
        let pieces = name == "link" ? text.split(separator: "<", omittingEmptySubsequences: false) : [text[...]]
        let clean = pieces.map { removed(fromText: $0) }.joined(separator: "<")
        return clean == text ? line : Array("\(name)\(clean)".utf8)[...]
    }

    /// Returns a text with at most one URL without the parameter.
    private func removed(fromText text: Substring) -> String {
        guard let question = text.firstIndex(of: "?") else { return String(text) }
        let rest = text[text.index(after: question)...]
        let end = rest.firstIndex { "#>".contains($0) || $0.isWhitespace } ?? rest.endIndex
        let query = removed(from: rest[..<end])
        guard query != rest[..<end] else { return String(text) }
        return "\(text[..<question])\(query.isEmpty ? "" : "?" + query)\(rest[end...])"
    }
}
