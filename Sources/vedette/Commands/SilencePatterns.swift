// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Finds patterns of `--where` that no item fits.
enum SilencePatterns {
    /// The names that every item has.
    private static let usual = ["key", "title", "name", "state", "url"]

    /// Returns why no item can ever fit; nil where one may.
    /// - Parameter fields: the fields of each source that the silence is about; nil for those that only the server knows.
    static func problem(with patterns: [Silence.FieldPattern], fields: [[String]?]) -> String? {
        let known = fields.compactMap { $0 }
        guard !known.isEmpty, known.count == fields.count else { return nil }
        return patterns.lazy.compactMap { unknown($0, among: known.joined()) }.first
    }

    /// Returns the warning that no item fits now; nil where one does, and where no item is known.
    static func warning(about patterns: [Silence.FieldPattern], among items: [Item]) -> String? {
        guard !items.isEmpty, !items.contains(where: { item in patterns.allSatisfy { $0.matches(item) } }) else {
            return nil
        }
        let names = items.flatMap { item in
            [item.fields, item.measures, item.notes].flatMap { $0.map(\.name) }
        }
        let missing = patterns.lazy.compactMap { unknown($0, among: names) }.first
        let given = patterns.map { "--where '\($0.text)'" }.joined(separator: " with ")
        return missing ?? "none of the \(counted(items.count, "item")) fits \(given) now"
    }

    private static func unknown(_ pattern: Silence.FieldPattern, among fields: some Sequence<String>) -> String? {
        let known = Set(usual).union(fields)
        guard !known.contains(pattern.name) else { return nil }
        let some = known.sorted().prefix(12).joined(separator: ", ") + (known.count > 12 ? ", …" : "")
        return "no item has the field \(quoted(pattern.name))"
            + (didYouMean(pattern.name, among: known) ?? "; the fields are \(some)")
    }
}
