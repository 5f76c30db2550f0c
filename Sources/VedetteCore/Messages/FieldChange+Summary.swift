// SPDX-License-Identifier: Apache-2.0

extension FieldChange {
    /// Values beyond this many characters, or of several lines, are shown as what changed in them.
    private static let shortValue = 80

    /// Whether a value is too long to be shown whole.
    public var isLong: Bool {
        [from, to].contains { value in
            guard let text = value?.description else { return false }
            return text.utf8.count > FieldChange.shortValue || text.utf8.contains(10)
        }
    }

    /// What changed in the values, as an excerpt; nil when one of them is absent, or they are too long to be compared.
    public var excerpt: [WordDiff.Piece]? {
        guard let from, let to else { return nil }
        return WordDiff(from: from.description, to: to.description)?.excerpt
    }

    /// Both values as one text: `Starting → Ready for use`; of long values what changed in them, else their beginnings.
    public var summary: String {
        if isLong, let excerpt { return excerpt.map(\.text).joined() }
        return [from, to].map { value -> String in
            let text = value?.description ?? "none"
            return isLong && text.count > WordDiff.shownCharacters ? text.prefix(WordDiff.shownCharacters) + "…" : text
        }.joined(separator: " → ")
    }
}
