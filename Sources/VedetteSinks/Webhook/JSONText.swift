// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A JSON body that is written as one text. Inside quotes a tag is a part of a string; outside it is a whole JSON value: a
/// number where the text is one, else a string, and `null` where the event has no such value.
enum JSONText {
    /// Marks the beginning and the end of a value. Values have no control characters once they are escaped.
    private static let (begin, end) = ("\u{1}", "\u{2}")

    /// - Returns: the bytes; nil when they are no JSON.
    static func render(_ template: any Template, _ context: TemplateContext) -> [UInt8]? {
        let marked = context.escaped { value in value.isEmpty ? "" : begin + Format.json.escape(value) + end }
        var text = Writer()
        for byte in template.render(marked).utf8 { text.take(byte) }
        return (try? JSON(parsing: text.bytes)) == nil ? nil : text.bytes
    }

    /// Returns whether some event makes JSON of a template. It is tried with all values, numbers or texts, with none, with each
    /// one alone and with each one missing.
    static func isPossible(_ template: any Template) -> Bool {
        func works(_ isThere: @escaping @Sendable (String) -> Bool) -> Bool {
            ["1", "x"].contains { text in
                render(template, TemplateContext { isThere($0) ? .text(text) : nil }) != nil
            }
        }
        return works { _ in true } || works { _ in false }
            || template.names.contains { name in works { $0 == name } || works { $0 != name } }
    }

    private struct Writer {
        private(set) var bytes: [UInt8] = []
        private var isInString = false
        private var isEscaped = false
        /// The last byte that is no white space.
        private var last = UInt8(ascii: " ")
        /// The value outside quotes that is being read.
        private var value: [UInt8]?

        mutating func take(_ byte: UInt8) {
            switch byte {
            case 1: if !isInString { value = [] }
            case 2: takeValue()
            default:
                if value != nil { value?.append(byte) } else { takeText(byte) }
            }
        }

        private mutating func takeValue() {
            guard let text = value else { return }
            value = nil
            let isNumber = if case .number = try? JSON(parsing: text) { true } else { false }
            bytes += isNumber ? text : [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
            last = UInt8(ascii: "\"")
        }

        private mutating func takeText(_ byte: UInt8) {
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else {
                if lacksValue(before: byte) { bytes += Array("null".utf8) }
                isInString = byte == UInt8(ascii: "\"")
            }
            if !" \t\r\n".utf8.contains(byte) { last = byte }
            bytes.append(byte)
        }

        private func lacksValue(before byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: ","): ":,[".utf8.contains(last)
            case UInt8(ascii: "}"): last == UInt8(ascii: ":")
            case UInt8(ascii: "]"): last == UInt8(ascii: ",")
            default: false
            }
        }
    }
}
