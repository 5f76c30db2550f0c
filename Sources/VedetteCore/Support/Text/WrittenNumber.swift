// SPDX-License-Identifier: Apache-2.0

/// Reads a number as people write it: `$1,299.00`, `899,00 €`, `12 %`, `3.4 GB`, `-5`.
///
/// A currency or unit before or after the number is not compared. Spaces and apostrophes between digits group them. Of `.` and
/// `,` the last one is the decimal point when both occur; one that occurs several times groups digits. A single `,` before
/// exactly three digits groups them, any other one is the decimal point, and so is a single `.`, as programs write it.
enum WrittenNumber {
    /// Longer texts are no numbers.
    private static let maximumLength = 64

    /// Returns nil when the text has no number, or several.
    static func read(_ text: String) -> Double? {
        if let number = Double(text) { return number }
        guard text.utf8.count <= maximumLength else { return nil }
        let characters = Array(text)
        guard let first = characters.firstIndex(where: isDigit), let last = characters.lastIndex(where: isDigit),
            isAffix(characters[..<first], takesSign: true), isAffix(characters[(last + 1)...], takesSign: false)
        else { return nil }
        guard let digits = plain(characters[first...last]), let number = Double(digits) else { return nil }
        let sign = characters[..<first].contains { $0 == "-" || $0 == "\u{2212}" }
        return sign ? -number : number
    }

    private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }

    /// A currency, a unit or a percent sign, as one word.
    private static func isAffix(_ part: ArraySlice<Character>, takesSign: Bool) -> Bool {
        let words = part.split { $0.isWhitespace || (takesSign && ["-", "+", "\u{2212}"].contains($0)) }
        let signs = part.count { ["-", "+", "\u{2212}"].contains($0) }
        return words.count <= 1 && signs <= (takesSign ? 1 : 0)
            && words.allSatisfy { $0.allSatisfy { $0.isLetter || $0.isCurrencySymbol || "%‰°/²³µ".contains($0) } }
    }

    /// Returns the digits with `.` as the decimal point; nil when separators stand where none can.
    private static func plain(_ part: ArraySlice<Character>) -> String? {
        let separators = part.indices.filter { !isDigit(part[$0]) }
        guard separators.allSatisfy({ isDigit(part[$0 - 1]) && isDigit(part[$0 + 1]) }) else { return nil }
        let points = separators.filter { part[$0] == "." || part[$0] == "," }
        let kinds = Set(points.map { part[$0] })
        var decimal: Int?
        if kinds.count == 2 {
            decimal = points.last
        } else if points.count == 1, let point = points.first {
            let isGroup = part[point] == "," && part.endIndex - point == 4 && point - part.startIndex <= 3
            decimal = isGroup ? nil : point
        }
        let others = separators.filter { $0 != decimal }
        let groups = others.allSatisfy { "., '’\u{A0}\u{202F}\u{2009}".contains(part[$0]) && $0 < decimal ?? .max }
        guard groups, others.isEmpty || areGroups(part, others, end: decimal ?? part.endIndex) else { return nil }
        return String(
            part.indices.compactMap { index -> Character? in
                index == decimal ? "." : isDigit(part[index]) ? part[index] : nil
            })
    }

    /// Groups have three digits; `12 30` is not one number.
    private static func areGroups(_ part: ArraySlice<Character>, _ separators: [Int], end: Int) -> Bool {
        let ends = separators.dropFirst() + [end]
        return zip(separators, ends).allSatisfy { $1 - $0 == 4 }
    }
}
