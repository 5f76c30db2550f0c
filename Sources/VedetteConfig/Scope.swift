// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// What a rule can name: the sources, and the fields of their items.
struct Scope {
    /// Every source by name, with its fields; nil where only the server knows, or where the source is wrong itself.
    var fields: [String: [String]?]

    /// Of every item.
    private static let itemNames = ["key", "title", "name", "state", "url", "time"]

    /// Narrowed to some of the sources.
    func among(_ names: Set<String>) -> Scope { Scope(fields: fields.filter { names.contains($0.key) }) }

    /// The names of all fields; nil when any field may be there.
    private var known: [String]? {
        var names = Set<String>()
        for list in fields.values {
            guard let list else { return nil }
            names.formUnion(list)
        }
        return fields.isEmpty ? nil : names.sorted()
    }

    func check(field name: String, at place: Place, _ findings: Findings) {
        guard let known, !known.contains(name), !Scope.itemNames.contains(name) else { return }
        findings.error(place, MapReader.unknown("field", name, among: Scope.itemNames + known))
    }

    /// The names of the sources as a sentence lists them.
    var names: [String] { Array(fields.keys) }

    var vocabulary: TemplateVocabulary {
        guard let known else { return .message }
        return TemplateVocabulary(TemplateNames.item + known.map { "item." + $0 } + TemplateNames.fixed)
    }
}
