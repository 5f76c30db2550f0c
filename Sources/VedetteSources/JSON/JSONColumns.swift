// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The JSON paths of one reading, in the order of their columns.
struct JSONColumns: ItemColumns {
    private(set) var paths: [JSONPath] = []
    /// Whether a path may have a `*`.
    var areOfRows = false

    mutating func add(_ text: String, _ place: [String]) throws(OptionProblem) -> Int {
        paths.append(try JSONColumns.path(text, place, isOfRow: areOfRows))
        return paths.count - 1
    }

    static func path(_ text: String, _ place: [String], isOfRow: Bool = false) throws(OptionProblem) -> JSONPath {
        let path: JSONPath
        do throws(JSONPath.Invalid) {
            path = try JSONPath(text)
        } catch {
            throw OptionProblem(at: place, "'\(text)' is not a path: \(error.reason)")
        }
        // An item may have a member '$', as attributes of XML that became JSON are; no document is read by one.
        if path.steps.first == "$", !isOfRow {
            throw OptionProblem(
                at: place,
                "'\(text)' begins with the '$' of another kind of path; write the names alone, as data.items")
        }
        if path.elementSteps != nil, !isOfRow {
            throw OptionProblem(at: place, "'\(text)' has a '*', which only a path inside an item may have")
        }
        return path
    }
}

extension JSONRow: ItemRow {
    var number: Int { index + 1 }

    func text(_ column: Int) -> String? {
        if let elements = elements(column, nested: JSON.canonical) {
            return elements.isEmpty ? nil : elements.joined(separator: ", ")
        }
        guard let text = string(column), !text.isEmpty else { return nil }
        return isNested(column) ? JSON.canonical(text) : text
    }

    func isNested(_ column: Int) -> Bool { kind(column) == .array || kind(column) == .object }

    func value(_ column: Int, isHTML: Bool) -> Value? {
        if let elements = elements(column, nested: JSON.canonical) {
            return isNested(column) ? .list(elements.map(TextLimit.bounded)) : nil
        }
        return switch kind(column) {
        case .array: .list(self[column].elements(nested: JSON.canonical).map(TextLimit.bounded))
        case .object: text(column).map { .text(TextLimit.bounded($0)) }
        default: string(column).map { .text(isHTML ? TextLimit.plain(html: $0) : TextLimit.bounded($0)) }
        }
    }
}

extension JSON {
    /// Returns an array or object in one form: members sorted by name, as their order means nothing (RFC 8259 §4), and no white
    /// space. A text that is none, or is nested too deep, stays as it is.
    fileprivate static func canonical(_ text: String) -> String {
        (try? JSON(parsing: text.utf8))?.sortedByName.text ?? text
    }

    private var sortedByName: JSON {
        switch self {
        case .array(let elements): .array(elements.map(\.sortedByName))
        case .object(let members):
            .object(
                members.map { Member(name: $0.name, value: $0.value.sortedByName) }.sorted { $0.name < $1.name })
        default: self
        }
    }
}

extension JSONCell {
    /// True for `null`, `false`, 0, and an absent or empty text, list or object.
    var isBlank: Bool {
        switch self {
        case .missing, .null, .bool(false), .string(""), .number("0"): true
        case .raw(let json): !json.contains { !"[]{} \n\r\t".contains($0) }
        default: false
        }
    }
}
