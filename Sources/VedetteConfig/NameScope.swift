// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// What a rule can name: the sources, and the fields of their items.
struct NameScope {
    /// Every source by name, with its fields; nil where only the server knows, or where the source is wrong itself.
    let fields: [String: [String]?]
    /// Every source there is, also where the scope was narrowed.
    let all: [String]
    /// The names of all fields; nil when any field may be there.
    private let known: [String]?

    /// Of every item.
    private static let itemNames = ["key", "title", "name", "state", "url", "time"]

    init(fields: [String: [String]?], all: [String]? = nil) {
        self.fields = fields
        self.all = all ?? Array(fields.keys)
        let lists = fields.values.compactMap { $0 }
        let isOpen = lists.isEmpty || lists.count < fields.count
        known = isOpen ? nil : lists.reduce(into: Set<String>()) { $0.formUnion($1) }.sorted()
    }

    /// Narrowed to some of the sources.
    func among(_ names: Set<String>) -> NameScope {
        NameScope(
            fields: Dictionary(uniqueKeysWithValues: names.compactMap { name in fields[name].map { (name, $0) } }),
            all: all)
    }

    func check(field name: String, at place: Place, _ findings: Findings) {
        guard let known, !known.contains(name), !NameScope.itemNames.contains(name) else { return }
        findings.error(place, MapReader.unknown("field", name, among: Set(NameScope.itemNames + known).sorted()))
    }

    /// The names of the sources as a sentence lists them.
    var names: [String] { Array(fields.keys) }

    var vocabulary: TemplateVocabulary {
        guard let known else { return .message }
        return TemplateVocabulary(TemplateNames.item + known.map { "item." + $0 } + TemplateNames.fixed)
    }
}
