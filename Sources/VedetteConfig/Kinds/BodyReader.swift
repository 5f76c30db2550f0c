// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import Yams

/// Reads the body of a request. A text is a template. A map or list is JSON whose texts are templates, so that it is valid
/// JSON whatever they render; an unquoted number, `true`, `false` or `null` is that JSON value.
struct BodyReader {
    /// The deepest nesting of maps and lists.
    static let maximumDepth = 12

    let values: ValueReader

    private var findings: Findings { values.findings }

    func value(_ node: YAMLNode, _ what: String, level: Int = 1) -> OptionValue? {
        guard node.isMap || node.isList else { return leaf(node, what, isRoot: level == 1) }
        guard level <= BodyReader.maximumDepth else {
            findings.error(node.place, "\(what) is deeper than \(BodyReader.maximumDepth) maps and lists")
            return nil
        }
        return node.isMap ? map(node, what, level) : list(node, what, level)
    }

    /// - Parameter isRoot: whether this is the whole body; then an unquoted value is a text.
    private func leaf(_ node: YAMLNode, _ what: String, isRoot: Bool) -> OptionValue? {
        if !isRoot, let word = JSONValueReader(values: values).word(node) { return .json(word) }
        if !isRoot, let tag = BodyReader.numberTag(node.text ?? "") {
            return values.template(node, what, as: tag).map { .number($0) }
        }
        return values.template(node, what).map { .template($0) }
    }

    /// Returns the tag of a field that is sent as a number, `{{item.price}}` for `{{number item.price}}`; nil for another text.
    private static func numberTag(_ text: String) -> String? {
        let inside = text.dropFirst(2).dropLast(2)
        let words = inside.split(separator: " ")
        guard text == "{{\(inside)}}", words.count == 2, words[0] == "number", !inside.contains("{") else { return nil }
        return "{{\(words[1])}}"
    }

    private func map(_ node: YAMLNode, _ what: String, _ level: Int) -> OptionValue? {
        // To YAML an unquoted {{name}} is a map whose key is a map.
        guard !node.keys.contains(where: \.isMap) else {
            findings.error(node.place, "\(what) holds '{{' without quotes; write \"{{…}}\"")
            return nil
        }
        guard let entries = node.entries(what, findings) else { return nil }
        for entry in entries where entry.name.contains("{{") {
            findings.error(entry.key.place, "a name in \(what) is no template; write it out")
        }
        let pairs = entries.compactMap { entry in
            value(entry.value, "'\(entry.name)' of \(what)", level: level + 1).map { (name: entry.name, value: $0) }
        }
        return pairs.count == entries.count ? .map(pairs) : nil
    }

    private func list(_ node: YAMLNode, _ what: String, _ level: Int) -> OptionValue? {
        guard let elements = node.elements(what, findings) else { return nil }
        let read = elements.compactMap { value($0, what, level: level + 1) }
        return read.count == elements.count ? .list(read) : nil
    }
}
