// SPDX-License-Identifier: Apache-2.0

import VedetteCore
public import VedetteText

/// The names that a rule can use: the sources, and the fields of their items.
struct NameScope {
    /// The fields of each source, by its name; nil when only the server knows them, or when the source has an error.
    let fields: [String: [String]?]
    /// The names of all sources, also those outside a narrowed scope.
    let all: [String]
    /// The names of all fields; nil when there may be others.
    private let known: [String]?

    /// The names that every item has.
    static let itemNames = ["key", "title", "name", "state", "url", "time"]

    init(fields: [String: [String]?], all: [String]? = nil) {
        self.fields = fields
        self.all = all ?? Array(fields.keys)
        let lists = fields.values.compactMap { $0 }
        let isOpen = lists.isEmpty || lists.count < fields.count
        known = isOpen ? nil : lists.reduce(into: Set<String>()) { $0.formUnion($1) }.sorted()
    }

    /// Returns the scope narrowed to some of the sources.
    func among(_ names: Set<String>) -> NameScope {
        NameScope(
            fields: Dictionary(uniqueKeysWithValues: names.compactMap { name in fields[name].map { (name, $0) } }),
            all: all)
    }

    /// Reports a field that no source in scope has.
    func check(field name: String, at place: Place, _ findings: Findings) {
        guard let known, !known.contains(name), !NameScope.itemNames.contains(name) else { return }
        findings.error(place, MapReader.unknown("field", name, among: Set(NameScope.itemNames + known).sorted()))
    }

    /// The names of the sources in scope.
    var names: [String] { Array(fields.keys) }

    /// The names that a template can use.
    var vocabulary: TemplateVocabulary {
        guard let known else { return .message }
        return TemplateVocabulary(TemplateNames.item + known.map { "item." + $0 } + TemplateNames.fixed)
    }
}

extension Configuration {
    /// The names that a template about any event of the sources can use.
    public var templateNames: TemplateVocabulary {
        NameScope(fields: Dictionary(uniqueKeysWithValues: sources.map { ($0.name, $0.kind.fieldNames) })).vocabulary
    }
}
