// SPDX-License-Identifier: Apache-2.0

/// The one number in a text as people write it: `$1,299.00`, `from 899,- €`, `12 %`, `-5`.
///
/// Words, currencies and units around the number are not compared; a text with two numbers has none, nor has
/// an array or object in JSON. Spaces and apostrophes
/// between digits group them. Of `.` and `,` the last one is the decimal sign when both occur; one that occurs several times
/// groups digits. A single one is the decimal sign, unless exactly three digits follow and one to three precede that do not
/// begin with 0: then `,` groups them, and `.` does so beside a currency, since programs write `1.299` and shops `1.299 €`.
public struct WrittenNumber: Sendable, Hashable {
    /// The number as programs write it: `1299.00`.
    public let plain: String
    /// Whether elsewhere the same text is another number: `1.799 €` is also the price of a litre of fuel.
    public let isAmbiguous: Bool
    /// The decimal sign, or of an ambiguous text the one that would be it elsewhere; nil for neither.
    public let sign: Character?
    /// The decimal sign that the text itself shows: of `9,50 €` and of `1.299,00 €` the comma.
    var decimal: Character? { isAmbiguous ? nil : sign }
    /// The text of a field whose decimal sign is known: the number, and behind it its unit where that is one word. Nil where
    /// more than a sign, a currency and the words of price tags stands around the number: `in 3 Tagen` is not `in 3 Wochen`.
    public let field: String?

    /// Longer texts have no number.
    private static let maximumBytes = 256

    /// Returns nil when the text has no number, or several.
    /// - Parameters:
    ///   - decimal: `.` or `,` where the decimal sign is known; the other one then groups digits.
    ///   - likely: the decimal sign of an ambiguous text; nil where its sign groups digits.
    public init?(_ text: String, decimal: Character? = nil, likely: Character? = nil) {
        if decimal == nil, text.utf8.allSatisfy(WrittenNumber.isProgramByte), Double(text)?.isFinite == true {
            (plain, isAmbiguous, sign, field) = (text, false, nil, nil)
            return
        }
        guard text.utf8.count <= WrittenNumber.maximumBytes, text.first.map("[{".contains) != true else { return nil }
        let text = Array(text)
        guard let first = text.firstIndex(where: \.isDigit), let last = text.lastIndex(where: \.isDigit) else {
            return nil
        }
        let (before, after) = (text[..<first], text[(last + 1)...])
        let (number, currency) = (text[first...last], Currency(before, after))
        guard var digits = Digits(number, of: currency, decimal: decimal) else { return nil }
        if digits.isAmbiguous, let likely, number.contains(likely) {
            digits = Digits(number, of: currency, decimal: likely) ?? digits
        }
        plain = (WrittenNumber.endsInMinus(before) ? "-" : "") + digits.plain
        isAmbiguous = digits.isAmbiguous
        sign = isAmbiguous ? number.first { !$0.isDigit } : digits.decimal
        field = decimal == nil ? nil : WrittenNumber.field(plain, before, after)
    }

    /// Returns nil when the value has no number, or several.
    /// - Parameter sign: the decimal sign of an ambiguous text.
    static func read(_ value: Value, decimal sign: Character? = nil) -> Double? {
        WrittenNumber(value.description, likely: sign).flatMap { Double($0.plain) }
    }

    private static func field(
        _ plain: String, _ before: ArraySlice<Character>, _ after: ArraySlice<Character>
    ) -> String? {
        let unit = otherWords(in: after)
        guard otherWords(in: before).allSatisfy({ $0 == "+" }), unit.count <= 1 else { return nil }
        return ([plain] + unit).joined(separator: " ")
    }

    /// Returns the words that are neither a currency nor usual on price tags.
    private static func otherWords(in part: ArraySlice<Character>) -> [String] {
        part.split { $0.isWhitespace || "-\u{2212}–—*.,:".contains($0) }.map { String($0) }
            .filter { !Currency.isKnown($0) && !tagWords.contains($0.lowercased()) }
    }

    /// A per cent sign and degrees are among them, since no field has them in turn with another unit.
    private static let tagWords = Set(
        """
        from ab dès desde da à partir de price preis prix precio prezzo only nur inkl incl mwst ust vat tax tva iva btw \
        zzgl versand versandkosten / ( ) % ‰ ° °c °f
        """.split(separator: " ").map(String.init))

    private static func isProgramByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || "+-.eE".utf8.contains(byte)
    }

    /// Returns whether a number is negative by what precedes it. The hyphen of a word (`A-5`) and a dash between words are no
    /// minus; the currency may stand on either side of one.
    private static func endsInMinus(_ before: ArraySlice<Character>) -> Bool {
        func isSkipped(_ character: Character) -> Bool { character.isWhitespace || character.isCurrencySymbol }
        guard let sign = before.lastIndex(where: { !isSkipped($0) }), "-\u{2212}".contains(before[sign]) else {
            return false
        }
        if before[..<sign].allSatisfy(isSkipped) { return true }
        return !before[sign - 1].isLetter && before[(sign + 1)...].first?.isWhitespace != true
    }
}

/// Where a number has its currency.
private enum Currency {
    case none, before, after
    /// Behind it stands the mark of a price without cents: `899,-`.
    case whole

    init(_ before: ArraySlice<Character>, _ after: ArraySlice<Character>) {
        let left = before.reversed().drop { $0.isWhitespace || "-\u{2212}.".contains($0) }
        let right = after.drop(while: \.isWhitespace)
        let mark = right.prefix(2)
        if let point = mark.first, let dash = mark.last, ",.".contains(point), "-–—".contains(dash) {
            self = .whole
        } else if Currency.isKnown(String(right.prefix(while: Currency.isPart))) {
            self = .after
        } else {
            self = Currency.isKnown(String(left.prefix(while: Currency.isPart).reversed())) ? .before : .none
        }
    }

    private static func isPart(_ character: Character) -> Bool { character.isLetter || character.isCurrencySymbol }

    static func isKnown(_ name: String) -> Bool {
        name.contains(where: \.isCurrencySymbol) || words.contains(name.lowercased())
    }

    /// Codes of ISO 4217 and the words of price tags.
    private static let words = Set(
        """
        eur usd gbp chf sek nok dkk isk pln czk huf ron bgn rsd try rub uah inr jpy cny krw aud cad nzd brl mxn clp cop ars \
        pen zar ils sgd hkd thb idr myr vnd kr kč zł lei lv tl fr sfr rs rp euro euros dollar dollars pound pounds \
        руб р грн
        """.split(separator: " ").map(String.init))
}

/// The digits of a number with what separates them.
private struct Digits {
    private(set) var plain: String
    private(set) var isAmbiguous = false
    /// The decimal sign; nil for none.
    let decimal: Character?

    /// Returns nil when the separators are not the separators of one number.
    init?(_ part: ArraySlice<Character>, of currency: Currency, decimal known: Character?) {
        let separators = part.indices.filter { !part[$0].isDigit }
        guard separators.allSatisfy({ part[$0 - 1].isDigit && part[$0 + 1].isDigit }) else { return nil }
        let points = separators.filter { ".,".contains(part[$0]) }
        var place: Int?
        if let known {
            place = points.last { part[$0] == known }
        } else if let symbol = separators.last, part[symbol].isCurrencySymbol, part.endIndex - symbol == 3 {
            // `899€99`, as in France.
            place = symbol
        } else if Set(points.map { part[$0] }).count == 2 {
            place = points.last
        } else if points.count == 1, let point = points.first {
            let isGroup =
                part.endIndex - point == 4 && point - part.startIndex <= 3 && part[part.startIndex] != "0"
                && separators.count == 1
            let isGrouped = isGroup && (part[point] == "," || currency != .none)
            place = isGrouped ? nil : point
            // English puts the currency first and groups by `,`; elsewhere either sign may be the decimal one.
            isAmbiguous = isGrouped && (currency == .after || (currency == .before && part[point] == "."))
        }
        let groups = separators.filter { $0 != place }
        let signs = Set(groups.map { part[$0] })
        guard signs.isSubset(of: ".,'’ \u{A0}\u{202F}\u{2009}"), signs.count <= 1, known.map(signs.contains) != true,
            Digits.areGroups([part.startIndex - 1] + groups, end: place ?? part.endIndex, isIndian: currency != .none)
        else { return nil }
        decimal = place.map { part[$0] }
        plain = String(
            part.indices.compactMap { $0 == place ? "." : part[$0].isDigit ? part[$0] : nil })
    }

    /// Groups have three digits; `12 30` is not one number. In India all but the last have two: `₹1,23,456`.
    /// - Parameter places: before the first group, then the separators.
    private static func areGroups(_ places: [Int], end: Int, isIndian: Bool) -> Bool {
        let sizes = zip(places, places.dropFirst() + [end]).map { $1 - $0 - 1 }
        guard let first = sizes.first, let last = sizes.last, sizes.count > 1 else { return true }
        let middle = Set(sizes.dropFirst().dropLast())
        return first <= 3 && last == 3 && (middle.isSubset(of: [3]) || (isIndian && first <= 2 && middle == [2]))
    }
}

extension Character {
    fileprivate var isDigit: Bool { isASCII && isNumber }
}
