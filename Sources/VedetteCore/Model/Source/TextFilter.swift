// SPDX-License-Identifier: Apache-2.0

/// What a source changes in the texts of its items before they are compared: the keys `replace`, `ignore` and `sort`.
public struct TextFilter: Sendable {
    /// One replacement.
    public struct Step: Sendable {
        /// What is replaced.
        public var pattern: any Pattern
        /// What takes its place.
        public var replacement: String
        /// `title`, `state`, `key`, or names of fields, notes and measures; nil for the title and all compared fields.
        public var names: Set<String>?

        /// Creates a replacement.
        public init(_ pattern: any Pattern, with replacement: String = "", in names: Set<String>? = nil) {
            (self.pattern, self.replacement, self.names) = (pattern, replacement, names)
        }

        /// Whether it is applied to the text of a name.
        /// - Parameter isUsual: whether that is the title or a compared field.
        func applies(to name: String, isUsual: Bool) -> Bool { names?.contains(name) ?? isUsual }
    }

    /// In the order in which they are applied.
    public var steps: [Step]
    /// Whether the order of the values of a field, or of the parts of a text, means nothing.
    public var sorts: Bool

    /// Creates a filter; without arguments it changes nothing.
    public init(_ steps: [Step] = [], sorts: Bool = false) { (self.steps, self.sorts) = (steps, sorts) }

    /// Whether it changes nothing.
    public var isEmpty: Bool { steps.isEmpty && !sorts }
    /// Whether it changes keys, which is said by name alone.
    public var changesKeys: Bool { steps.contains { $0.names?.contains("key") == true } }

    private static let scope = [
        OptionSpec(
            "in", .oneOrMany(.text), "`title`, `state`, `key`, or names of fields, notes and measures.",
            otherwise: "the title and the compared fields")
    ]
    /// The keys of an element of `ignore`.
    public static let ignoreKeys =
        [OptionSpec("regex", .pattern, "Regular expression (PCRE2); each match is removed.", required: true)] + scope
    /// The keys of an element of `replace`.
    public static let replaceKeys =
        [
            OptionSpec("regex", .pattern, "Regular expression (PCRE2) of what is replaced.", required: true),
            OptionSpec(
                "with", .text, "What takes its place; `$1` or `${name}` is what a group matched, `$$` a `$`.",
                required: true),
        ] + scope
}

/// Its work on texts.
extension TextFilter {
    /// Returns a text as it is compared.
    /// - Parameters:
    ///   - name: the field; `title`, `state` and `key` are names, too.
    ///   - isUsual: whether it is the title or a compared field, to which a replacement without names applies.
    public func text(
        _ text: String, of name: String, isUsual: Bool, _ progress: inout Progress
    ) throws(ReadError) -> String {
        if steps.isEmpty { return text }
        let written = text
        var text = text
        for step in steps where step.applies(to: name, isUsual: isUsual) {
            do throws(PatternError) {
                text = try step.pattern.replacing(in: text, with: step.replacement, &progress.budget)
            } catch {
                throw ReadError(.shape, "failed to replace texts in '\(name)': \(error.detail)")
            }
        }
        progress.note(name, written, text)
        return text
    }

    /// Returns a field as it is compared.
    public func value(
        _ value: Value, of name: String, isUsual: Bool, _ progress: inout Progress
    ) throws(ReadError) -> Value {
        switch value {
        case .text(let text): return .text(try self.text(text, of: name, isUsual: isUsual, &progress))
        case .list(let texts):
            var filtered: [String] = []
            for text in texts { filtered.append(try self.text(text, of: name, isUsual: isUsual, &progress)) }
            return .list(sorts && isUsual ? filtered.sorted() : filtered)
        }
    }

    /// Returns fields as they are compared, or notes as they are shown.
    public func fields(
        _ fields: Fields, areCompared: Bool, _ progress: inout Progress
    ) throws(ReadError) -> Fields {
        guard !isEmpty else { return fields }
        var filtered = fields
        for field in fields {
            let value = try value(field.value, of: field.name, isUsual: areCompared, &progress)
            if value != field.value { filtered[field.name] = value }
        }
        return filtered
    }

    /// Returns the key of an item.
    public func key(_ key: String, _ progress: inout Progress) throws(ReadError) -> String {
        let filtered = try text(key, of: "key", isUsual: false, &progress)
        if filtered.isEmpty, !key.isEmpty {
            throw ReadError(.shape, "'replace' and 'ignore' leave nothing of the key '\(key.prefix(200))'")
        }
        return filtered
    }

    /// Changes the texts of all items but their keys.
    /// - Returns: the warning of what it left nothing of.
    public func apply(to items: inout [Item]) throws(ReadError) -> [String] {
        guard !isEmpty else { return [] }
        var progress = Progress()
        for index in items.indices {
            if let title = items[index].title {
                items[index].title = try text(title, of: "title", isUsual: true, &progress)
            }
            if let state = items[index].state {
                items[index].state = try text(state, of: "state", isUsual: false, &progress)
            }
            items[index].fields = try fields(items[index].fields, areCompared: true, &progress)
            items[index].notes = try fields(items[index].notes, areCompared: false, &progress)
        }
        return progress.warnings
    }
}

extension TextFilter {
    /// What has been done to the texts of one page.
    public struct Progress: Sendable {
        /// The work that may still be done.
        var budget = MatchBudget()
        private var emptied: Set<String> = []
        private var kept: Set<String> = []

        /// Creates one for a page of which nothing is read yet.
        public init() {}

        mutating func note(_ name: String, _ written: String, _ left: String) {
            if left.contains(where: { !$0.isWhitespace }) {
                kept.insert(name)
            } else if written.contains(where: { !$0.isWhitespace }) {
                emptied.insert(name)
            }
        }

        /// Says of which fields nothing is left in any item; where other items keep theirs, that may be meant.
        public var warnings: [String] {
            let names = emptied.subtracting(kept).sorted().map { "'\($0)'" }
            guard !names.isEmpty else { return [] }
            return [
                "'replace' and 'ignore' leave nothing of \(names.joined(separator: " and ")) in any item; "
                    + "narrow their 'regex', or name other fields with 'in'"
            ]
        }
    }
}

/// What of it is stored with a snapshot.
extension TextFilter {
    private func digest(of steps: [Step]) -> UInt64 {
        StableHash.of(steps.flatMap { [$0.pattern.source, $0.replacement] } + (sorts ? ["sort"] : []))
    }

    /// Returns the fingerprints of a kind. The filter is a part of the fingerprint of each field that it changes.
    public func fingerprints(_ kind: [String: UInt64]) -> [String: UInt64] {
        guard !isEmpty else { return kind }
        var prints = kind
        func add(_ digest: UInt64, to name: String) {
            var hash = StableHash()
            hash.add(prints[name, default: 0])
            hash.add(digest)
            prints[name] = hash.value
        }
        if sorts || steps.contains(where: { $0.names == nil }) {
            add(digest(of: steps), to: SnapshotHead.everyField)
        } else {
            for name in Set(steps.flatMap { $0.names ?? [] }) {
                add(digest(of: steps.filter { $0.applies(to: name, isUsual: false) }), to: name)
            }
        }
        return prints
    }

    /// A digest of what it changes in keys; nil for nothing.
    var keyIdentity: UInt64? {
        changesKeys ? digest(of: steps.filter { $0.applies(to: "key", isUsual: false) }) : nil
    }
}
