// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What the values of columns are.
extension PageRows {
    static func hasText(_ element: PageElement) -> Bool {
        element.text.contains { $0.isLetter || $0.isNumber }
    }

    static func isAddress(_ text: String) -> Bool {
        !text.hasPrefix("#") && !text.lowercased().hasPrefix("javascript:") && !text.hasPrefix("mailto:")
    }

    static func isLabel(_ text: String) -> Bool {
        text.count <= 120 && !isNumber(text) && !text.contains(/^\d{1,2}:\d\d/) && Timestamp(anyForm: text) == nil
    }

    static func isNumber(_ text: String) -> Bool { WrittenNumber(text) != nil && text.first?.isLetter == false }

    /// True for `row-1`, `row-2`, `row-3`: the place of a row and not the row itself.
    func isNumbered(_ ids: [String]) -> Bool {
        let numbers = ids.compactMap { id in
            Int(id.reversed().prefix(while: \.isNumber).reversed().map(String.init).joined())
        }
        let isInOrder = numbers.count == ids.count && zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }
        return ids.contains { $0.contains(":") } || (isInOrder && numbers.first.map { $0 <= 1 } == true)
    }

    static func isPrice(_ words: [String]) -> Bool {
        words.contains(where: PageWords.price.contains) && !words.contains(where: PageWords.noPrice.contains)
    }

    static func hasDigit(_ text: String) -> Bool { text.count <= 60 && text.contains(where: \.isNumber) }

    /// A price that is nothing but a number and a currency comes first.
    static func rank(_ column: Column) -> (Int, Int, Int) {
        let texts = column.first.filter { !$0.isEmpty }
        let isBare = texts.allSatisfy { $0.count(where: \.isLetter) <= 4 && WrittenNumber($0) != nil }
        let isNamed = column.words.last.map(PageWords.price.contains) ?? false
        return (isBare ? 0 : 1, (isNamed ? 0 : 1) + (column.isSingle ? 0 : 1), texts.map(\.count).reduce(0, +))
    }

    /// The class of the rows that are sold out, which has no text.
    var soldOut: String? {
        let names = ["outofstock", "soldout", "unavailable", "sold"]
        return rows.flatMap(\.classes).first { token in names.contains(JSONNames.letters(token)) }
    }
}
