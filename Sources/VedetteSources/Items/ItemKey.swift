// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The key of a row: the first of its columns that has a value, or all of them together.
struct ItemKey: Sendable {
    /// The expressions, as written.
    let expressions: [String]
    private let columns: [Int]
    private let areAlternatives: Bool
    /// The column of an item that is a single value.
    private let single: Int?

    /// - Parameters:
    ///   - areAlternatives: whether the first expression that has a value is the key; otherwise all of them together are.
    ///   - single: the expression of an item that is a single value.
    init(
        _ expressions: [String], areAlternatives: Bool, single: String?, _ columns: inout some ItemColumns
    ) throws(OptionProblem) {
        (self.expressions, self.areAlternatives) = (expressions, areAlternatives)
        self.columns = try columns.add(expressions, "key")
        self.single = try single.map { text throws(OptionProblem) in try columns.add(text, ["key"]) }
    }

    /// Returns whether a column of the key has a value.
    func hasValue(_ row: borrowing some ItemRow & ~Copyable) throws(ReadError) -> Bool {
        for column in columns {
            if try row.text(column) != nil { return true }
        }
        return false
    }

    /// Returns the key.
    /// - Throws: `.shape` when the row has none.
    func text(_ row: borrowing some ItemRow & ~Copyable) throws(ReadError) -> String {
        var parts: [String?] = []
        for column in columns {
            let part = try row.text(column)
            if let part, areAlternatives || columns.count == 1 { return TextLimit.bounded(part) }
            parts.append(part)
        }
        if let value = try singleValue(row) { return TextLimit.bounded(value) }
        // An absent part is empty, as a label of Prometheus that a series does not have; an item without any has no key.
        guard parts.contains(where: { $0 != nil }) else {
            let missing = expressions.map { "'\($0)'" }.joined(separator: areAlternatives ? " or " : " and ")
            throw ReadError(
                .shape, "item number \(row.number) has no \(missing), which is its key; check 'key' and 'items'")
        }
        return TextLimit.bounded(ItemKey.joined(parts.map { $0 ?? "" }))
    }

    /// The value of an item that is no object, such as a name in a list of names.
    func singleValue(_ row: borrowing some ItemRow & ~Copyable) throws(ReadError) -> String? {
        guard let single, !row.isNested(single) else { return nil }
        return try row.text(single)
    }

    /// Joins parts by `/`, and encodes a `/` inside a part so that no two items get the same key. A single part is the key as it
    /// is.
    static func joined(_ parts: [String]) -> String {
        parts.count == 1 ? parts[0] : parts.map(joinable).joined(separator: "/")
    }

    private static func joinable(_ part: String) -> String {
        guard part.utf8.contains(UInt8(ascii: "/")) || part.utf8.contains(UInt8(ascii: "%")) else { return part }
        return part.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "%2F")
    }
}
