// SPDX-License-Identifier: Apache-2.0

/// The web addresses in a text, as far as every chat takes them for one: `http://` or `https://`, a host, and what follows it
/// of ASCII letters, digits and a few marks, up to the last letter, digit or slash. The rest is text again.
struct WebAddresses {
    private let text: String
    /// Behind the last address that was found.
    private var end: String.Index

    init(in text: String) { (self.text, end) = (text, text.startIndex) }

    /// Returns whether a character is a part of an address.
    /// - Parameter index: not before the one of the last call.
    mutating func contain(_ index: String.Index) -> Bool {
        if index < end { return true }
        guard text[index] == "h", !isInWord(index), let end = end(ofAddressAt: index) else { return false }
        self.end = end
        return true
    }

    private func isInWord(_ index: String.Index) -> Bool {
        guard index > text.startIndex else { return false }
        let before = text[text.index(before: index)]
        return before.isLetter || before.isNumber
    }

    private func end(ofAddressAt start: String.Index) -> String.Index? {
        let rest = text[start...]
        guard let scheme = ["https://", "http://"].first(where: { rest.hasPrefix($0) }) else { return nil }
        let host = rest.dropFirst(scheme.count).prefix { WebAddresses.isWord($0) || ".:-".contains($0) }
        let path = text[host.endIndex...].prefix { WebAddresses.isWord($0) || "-._~/?#&=+%:;,*@$".contains($0) }
        guard !host.isEmpty, let first = path.first, "/?#".contains(first),
            let last = path.lastIndex(where: { WebAddresses.isWord($0) || $0 == "/" })
        else { return nil }
        return text.index(after: last)
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }
}
