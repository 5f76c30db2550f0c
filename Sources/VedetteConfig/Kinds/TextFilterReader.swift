// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads what a source changes in texts before they are compared: `replace`, `ignore` and `sort`.
struct TextFilterReader {
    let map: MapReader

    private var findings: Findings { map.findings }

    /// Returns the filter; nil when a part of it is wrong.
    /// - Parameter options: the kind's options; the `ignore` of some kinds contains these expressions, too.
    func filter(_ options: Options) -> TextFilter? {
        guard let replaced = steps("replace", map["replace"]),
            let ignored = steps("ignore", options["ignore"] ?? map["ignore"]), let sorts = map.flag("sort")
        else { return nil }
        return TextFilter(replaced + ignored, sorts: sorts)
    }

    private func steps(_ name: String, _ value: OptionValue?) -> [TextFilter.Step]? {
        guard case .list(let elements)? = value else { return map.has(name) ? nil : [] }
        var steps: [TextFilter.Step] = []
        for (index, element) in elements.enumerated() {
            guard case .map(let pairs) = element else { continue }
            let values = Options(Dictionary(uniqueKeysWithValues: pairs.map { ($0.name, $0.value) }))
            guard let pattern = values.pattern("regex") else { return nil }
            let replacement = values.text("with") ?? ""
            do throws(PatternError) {
                try pattern.check(replacement: replacement)
            } catch {
                findings.error(place(name, index, "with"), error.detail)
                return nil
            }
            let names = values["in"] == nil ? nil : Set(values.texts("in"))
            steps.append(TextFilter.Step(pattern, with: replacement, in: names))
        }
        return steps
    }

    private func place(_ name: String, _ index: Int, _ key: String) -> Place {
        let element = map.node(name)?.child(index)
        return element?.child(key)?.place ?? element?.place ?? map.key(name)
    }

    /// Reports names in `in` that the items of a kind do not have, and keys and states that it must keep.
    func check(against kind: any SourceKind) {
        for list in ["replace", "ignore"] {
            guard let node = map.node(list), node.isList else { continue }
            for (index, element) in node.children.enumerated() {
                guard let names = element.child("in") else { continue }
                for word in names.isList ? names.children : [names] {
                    guard let name = word.text, let problem = TextFilterReader.problem(with: name, of: kind) else {
                        continue
                    }
                    findings.error(names.isList ? word.place : place(list, index, "in"), problem)
                }
            }
        }
    }

    /// Returns why the text of a name cannot be changed; nil when it can.
    private static func problem(with name: String, of kind: any SourceKind) -> String? {
        switch name {
        case "title": return nil
        case "key" where !kind.filtersTexts:
            return "the keys of this kind are the server's, and stay; remove 'key' from 'in'"
        case "state" where kind is any ObservingKind:
            return "the state of this kind is its own word, and stays; remove 'state' from 'in'"
        case "key", "state": return nil
        default:
            guard let known = kind.fieldNames, !known.contains(name) else { return nil }
            let others = ["title", "state"] + (kind.filtersTexts ? ["key"] : [])
            return MapReader.unknown("field", name, among: others + known)
        }
    }
}
