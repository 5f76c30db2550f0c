// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// A text of an item: one expression, or a template `{{EXPRESSION}}/more` over several.
struct ItemText: Sendable {
    private enum Part {
        case text(String)
        case column(Int)
    }

    private enum Form {
        /// One expression alone, as nearly all are.
        case column(Int)
        case template([Part])
    }

    private let form: Form

    /// - Parameter place: the option, and inside a list or map the place in it, for an error.
    init(_ text: String, _ place: [String], _ columns: inout some ItemColumns) throws(OptionProblem) {
        guard text.firstRange(of: "{{") != nil else {
            form = .column(try columns.add(text, place))
            return
        }
        var parts: [Part] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "{{") {
            if start.lowerBound > rest.startIndex { parts.append(.text(String(rest[..<start.lowerBound]))) }
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else {
                throw OptionProblem(at: place, "'\(text)' opens '{{' and does not close it; write '}}'")
            }
            let expression = String(rest[start.upperBound..<end.lowerBound]).trimmed()
            guard let first = expression.first, !"#^/!>&{=".contains(first) else {
                throw OptionProblem(
                    at: place, "'{{\(expression)}}' of '\(text)' is no expression; write one inside")
            }
            parts.append(.column(try columns.add(expression, place)))
            rest = rest[end.upperBound...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        if parts.count == 1, case .column(let column) = parts[0] {
            form = .column(column)
        } else {
            form = .template(parts)
        }
    }

    /// Returns the text; nil when every expression is absent or empty.
    func text(_ row: borrowing some ItemRow & ~Copyable) throws(ReadError) -> String? {
        try render(row, encodes: false)
    }

    /// Returns the text as an address: what is put behind its beginning is percent-encoded.
    func address(_ row: borrowing some ItemRow & ~Copyable) throws(ReadError) -> String? {
        try render(row, encodes: true)
    }

    /// Returns a field. Several values of one expression make a list.
    func value(_ row: borrowing some ItemRow & ~Copyable, isHTML: Bool) throws(ReadError) -> Value? {
        if case .column(let column) = form { return try row.value(column, isHTML: isHTML) }
        return try text(row).map { .text(isHTML ? TextLimit.plain(html: $0) : TextLimit.bounded($0)) }
    }

    private func render(_ row: borrowing some ItemRow & ~Copyable, encodes: Bool) throws(ReadError) -> String? {
        let parts: [Part]
        switch form {
        case .column(let column): return try row.text(column)
        case .template(let all): parts = all
        }
        var (text, isFound) = ("", false)
        for part in parts {
            switch part {
            case .text(let literal): text += literal
            case .column(let column):
                guard let value = try row.text(column) else { continue }
                text += encodes && !text.isEmpty ? WebURL.encoded(value) : value
                isFound = true
            }
        }
        return isFound ? text : nil
    }
}
