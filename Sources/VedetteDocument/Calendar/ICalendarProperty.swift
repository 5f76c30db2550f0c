// SPDX-License-Identifier: Apache-2.0

/// A property of an iCalendar component: one content line, unfolded (RFC 5545 §3.1).
public struct ICalendarProperty: Sendable, Hashable {
    /// The name in capitals: `DTSTART`.
    public let name: String
    /// The value as it is written.
    public let value: String
    /// The names in capitals, and the value of each without its quotes.
    public let parameters: [String: String]

    /// - Returns: nil for a line that is no property: without a name or without a colon.
    init?(_ line: some Sequence<UInt8>) {
        var parts = ICalendarProperty.parts(line)
        guard let value = parts.popLast(), let name = parts.first.map({ $0.uppercased() }), !parts.isEmpty,
            !name.isEmpty, name.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") })
        else { return nil }
        (self.name, self.value) = (name, value)
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { return nil }
            parameters[pair[0].uppercased()] = String(pair[1])
        }
        self.parameters = parameters
    }

    /// Returns the name, the parameters and the value; no value without a colon outside of quotes.
    private static func parts(_ line: some Sequence<UInt8>) -> [String] {
        var parts: [String] = []
        var part: [UInt8] = []
        var (isQuoted, isValue) = (false, false)
        for byte in line {
            switch byte {
            case UInt8(ascii: "\"") where !isValue: isQuoted.toggle()
            case UInt8(ascii: ";") where !isQuoted && !isValue, UInt8(ascii: ":") where !isQuoted && !isValue:
                parts.append(String(decoding: part, as: UTF8.self))
                part = []
                isValue = byte == UInt8(ascii: ":")
            default: part.append(byte)
            }
        }
        return isValue ? parts + [String(decoding: part, as: UTF8.self)] : []
    }

    /// The value as text, its escapes resolved (RFC 5545 §3.3.11).
    public var text: String { ICalendarProperty.texts(value, separator: nil)[0] }

    /// The values of a list of texts that are not empty.
    public var texts: [String] { ICalendarProperty.texts(value, separator: ",").filter { !$0.isEmpty } }

    private static func texts(_ value: String, separator: Character?) -> [String] {
        var (texts, isEscaped) = ([""], false)
        for character in value {
            if isEscaped {
                texts[texts.count - 1].append(character == "n" || character == "N" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == separator {
                texts.append("")
            } else {
                texts[texts.count - 1].append(character)
            }
        }
        return texts
    }
}

/// A component of a calendar with the properties that this program reads.
public struct ICalendarComponent: Sendable {
    /// The name in capitals: `VEVENT`.
    public let name: String
    /// The line of its BEGIN, from 1.
    public let line: Int
    var children: [ICalendarComponent] = []
    /// The first property of each name, and those that repeat a name. So one is found among a few names, however many lines there are.
    private(set) var firsts: [ICalendarProperty] = []
    private var others: [ICalendarProperty] = []

    init(_ name: String, line: Int) { (self.name, self.line) = (name, line) }

    /// The first property of a name; nil for none.
    public subscript(name: String) -> ICalendarProperty? { firsts.first { $0.name == name } }

    /// Returns the properties of a name.
    public func all(_ name: String) -> [ICalendarProperty] {
        guard let first = self[name] else { return [] }
        return [first] + others.filter { $0.name == name }
    }

    mutating func add(_ property: ICalendarProperty) {
        if self[property.name] == nil { firsts.append(property) } else { others.append(property) }
    }
}
