// SPDX-License-Identifier: Apache-2.0
import CSimdjson

/// The type of the value in a cell.
public enum JSONKind: UInt8, Sendable {
    case missing, null, `false`, `true`, number, string, array, object

    init(_ cell: cj_cell) { self = JSONKind(rawValue: cell.kind) ?? .missing }
}

/// A cell with a copy of its text.
public enum JSONCell: Hashable, Sendable {
    /// The path leads nowhere.
    case missing
    case null
    case bool(Bool)
    /// A number exactly as it was written: `9007199254740993`, `1e400`, `1.10`.
    case number(String)
    case string(String)
    /// An array or an object as its JSON text.
    case raw(String)

    /// The text of a string alone.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The text of a string, number or boolean, the JSON text of an array or object; nil when missing or null.
    public var text: String? {
        switch self {
        case .missing, .null: nil
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .string(let text), .raw(let text): text
        }
    }
}

/// The cells of one row, valid until the closure that receives the row returns.
public struct JSONRow: ~Copyable {
    let cells: UnsafePointer<cj_cell>?
    let body: UnsafeBufferPointer<UInt8>
    let unescaped: UnsafePointer<UInt8>?
    /// The row's place in the items array, from 0.
    public let index: Int
    /// The number of rows of the document.
    public let rows: Int
    public let count: Int
    /// Whether the row is an object that is no element of an array: the root, or what `items` leads to.
    public let isSingle: Bool
    /// For each column the path inside the elements of an array; empty where no column has one.
    let elementPaths: [JSONPath?]

    public func kind(_ column: Int) -> JSONKind { JSONKind(cell(column)) }

    /// The bytes of a cell as UTF-8, escapes undone, control characters and all, without allocation: a string without its quotes, a number as written, an
    /// array or object as its JSON text. Empty when missing. Do not keep them beyond the row.
    public func bytes(_ column: Int) -> UnsafeBufferPointer<UInt8> {
        let cell = cell(column)
        guard let start = cell.unescaped == 0 ? body.baseAddress : unescaped else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        return UnsafeBufferPointer(start: start + Int(cell.offset), count: Int(cell.length))
    }

    /// The cell's text as `JSONCell.text` gives it; nil when missing or null.
    public func string(_ column: Int) -> String? {
        switch kind(column) {
        case .missing, .null: nil
        default: decoded(column)
        }
    }

    /// Returns the text without control characters. Escapes may write them (RFC 8259 §7), but no text of an item contains them,
    /// as in XML.
    private func decoded(_ column: Int) -> String {
        let bytes = bytes(column)
        guard cell(column).unescaped != 0, bytes.contains(where: \.isControl) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        return String(decoding: bytes.filter { !$0.isControl }, as: UTF8.self)
    }

    public subscript(_ column: Int) -> JSONCell {
        var text: String { decoded(column) }
        return switch kind(column) {
        case .missing: .missing
        case .null: .null
        case .false: .bool(false)
        case .true: .bool(true)
        case .number: .number(text)
        case .string: .string(text)
        case .array, .object: .raw(text)
        }
    }

    /// The texts that a path with a `*` finds, nested values as JSON: of an array one for each element that has it, of an
    /// object its own, none where it leads to neither. Nil for a column without `*`.
    ///
    /// - Parameter nested: what is made of the JSON text of a nested value.
    public func elements(_ column: Int, nested: (String) -> String) -> [String]? {
        guard !elementPaths.isEmpty, let path = elementPaths[column] else { return nil }
        return JSONCell.raw(decoded(column)).elements(at: path, nested: nested)
    }

    private func cell(_ column: Int) -> cj_cell {
        precondition(column >= 0 && column < count, "a column outside the reader's columns")
        return cells.map { $0[column] } ?? cj_cell()
    }
}

extension JSONCell {
    /// The elements of an array, nested values as they are written.
    public var elements: [String] { elements { $0 } }

    /// Returns the elements of an array: the texts of strings, numbers and booleans, and the JSON text of nested values; null
    /// elements are left out. A cell that is not an array is its own only element, or none.
    ///
    /// - Parameter nested: what is made of the JSON text of a nested value.
    public func elements(nested: (String) -> String) -> [String] {
        guard case .raw(let json) = self, json.utf8.first == UInt8(ascii: "[") else { return text.map { [$0] } ?? [] }
        return elements(at: .root, nested: nested)
    }

    /// The texts among the elements of an array; a text that is no array is its own only element.
    public var texts: [String] {
        guard case .raw(let json) = self else { return string.map { [$0] } ?? [] }
        guard json.utf8.first == UInt8(ascii: "[") else { return [] }
        return elements(at: .root, where: { $0 == .string }) { $0 }
    }

    /// The values at a path in each element of an array, or in an object.
    fileprivate func elements(
        at path: JSONPath, where isWanted: (JSONKind) -> Bool = { _ in true }, nested: (String) -> String
    ) -> [String] {
        guard case .raw(let json) = self else { return [] }
        var body = Array(json.utf8)
        var elements: [String] = []
        var limits = JSONLimits()
        limits.depth = 1000
        limits.rows = .max
        limits.stringBytes = .max
        let reader = JSONReader(columns: [path], limits: limits)
        // The text was cut from a document that was valid as a whole, and within its limits: it cannot fail.
        _ = try? reader.read(&body) { row in
            guard isWanted(row.kind(0)), let text = row.string(0) else { return }
            elements.append([.array, .object].contains(row.kind(0)) ? nested(text) : text)
        }
        return elements
    }
}
