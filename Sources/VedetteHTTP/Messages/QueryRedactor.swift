// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What a server repeats of the query that it was asked with: the parameter with the credential is taken out of all that
/// names an address, since that becomes a field, a next page or a line of the journal (I9).
struct QueryRedactor {
    private let name: String
    /// The pair as it may stand inside another value.
    private let nested: [String]
    private let secret: String

    /// Nil for credentials that stand in no address.
    init?(_ credentials: Credentials?) {
        guard case .query(let name, let secret) = credentials else { return nil }
        (self.name, self.secret) = (name, secret.value)
        nested = ["\(name)=\(secret.value)", "\(WebURL.encoded(name))=\(WebURL.encoded(secret.value))"]
    }

    /// What is kept of a query.
    func kept(of query: Substring) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).filter { !isEcho($0) }
            .joined(separator: "&")
    }

    /// A parameter, or one with an address inside that has it: where a login is to lead back to.
    private func isEcho(_ pair: Substring) -> Bool {
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

    private static let addresses: Set<String> = ["location", "content-location", "refresh", "link"]

    /// Header lines without it; all others stay byte for byte.
    func removed(from lines: [UInt8]) -> [UInt8] {
        Array(lines.split(separator: 10, omittingEmptySubsequences: false).map(clean).joined(separator: [10]))
    }

    private func clean(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let colon = line.firstIndex(of: 58), line.contains(63) else { return line }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        guard QueryRedactor.addresses.contains(name) else { return line }
        let text = String(decoding: line[colon...], as: UTF8.self)
        // A Link is a list of addresses, each in its brackets (RFC 8288 §3).
        let pieces = name == "link" ? text.split(separator: "<", omittingEmptySubsequences: false) : [text[...]]
        let clean = pieces.map { removed(from: $0) }.joined(separator: "<")
        return clean == text ? line : Array("\(name)\(clean)".utf8)[...]
    }

    /// Of a text with one address at most.
    private func removed(from text: Substring) -> String {
        guard let question = text.firstIndex(of: "?") else { return String(text) }
        let rest = text[text.index(after: question)...]
        let end = rest.firstIndex { "#>".contains($0) || $0.isWhitespace } ?? rest.endIndex
        let query = kept(of: rest[..<end])
        guard query != rest[..<end] else { return String(text) }
        return "\(text[..<question])\(query.isEmpty ? "" : "?" + query)\(rest[end...])"
    }
}
