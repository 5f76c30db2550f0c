// SPDX-License-Identifier: Apache-2.0

/// The decimal sign by which each field of a source writes its numbers, where its values have shown one.
///
/// `1.799 €` alone is ambiguous: a shop means 1799, a petrol station 1.799. A number of the field that is below 10 and shows
/// its decimal sign, such as `1.79 €`, decides, for the values before and after it.
public struct DecimalSigns: Sendable, Hashable {
    private(set) var signs: [String: Character] = [:]

    /// Further fields are read without such knowledge.
    private static let maximum = 100

    /// Creates an empty set.
    public init() {}

    init(json: JSON?) { signs = json?.signs ?? [:] }

    subscript(field: String) -> Character? { signs[field] }

    /// Keeps the signs that the values of a change show.
    mutating func note(_ change: FieldChange) {
        for value in [change.from, change.to] {
            guard let value, let number = WrittenNumber(value.description), let sign = number.decimal else { continue }
            note(sign, of: change.field, in: number.plain)
        }
    }

    /// A number that shows the other sign ends what was known.
    private mutating func note(_ sign: Character, of field: String, in plain: String) {
        if let size = Double(plain), 0 < size, size < 10, signs.count < DecimalSigns.maximum {
            signs[field] = sign
        } else if signs[field] != sign {
            signs[field] = nil
        }
    }

    /// Returns the decimal signs of an item's fields that are ambiguous without them.
    func signs(of item: Item, _ changes: [FieldChange] = []) -> [String: Character] {
        signs.filter { name, _ in
            let values = [item[name]] + changes.lazy.filter { $0.field == name }.map(\.from)
            return values.contains { $0.flatMap { WrittenNumber($0.description) }?.isAmbiguous ?? false }
        }
    }

    /// Reads measures with the signs that earlier ones showed. A measure is a plain number, and of one that was written with a
    /// single sign the item has that in `Item.decimals`: `1799` with a point was `1.799 €`.
    mutating func readMeasures(of items: [Item]) -> [Item] {
        guard items.contains(where: { !$0.decimals.isEmpty }) else { return items }
        var items = items
        for i in items.indices {
            for (name, sign) in items[i].decimals {
                guard case .text(var plain) = items[i].measures[name] else { continue }
                if plain.contains(".") {
                    note(sign, of: name, in: plain)
                } else if signs[name] == sign, plain.count > 3 {
                    plain.insert(".", at: plain.index(plain.endIndex, offsetBy: -3))
                    items[i].measures[name] = .text(plain)
                }
            }
            items[i].decimals = [:]
        }
        return items
    }
}

extension JSON {
    /// The decimal signs of fields; nil for none.
    init?(signs: [String: Character]) {
        guard !signs.isEmpty else { return nil }
        self = .object(signs.sorted { $0.key < $1.key }.map { Member(name: $0.key, value: .string(String($0.value))) })
    }

    /// The decimal signs of fields.
    var signs: [String: Character] {
        let signs = (members ?? []).compactMap { member in member.value.string?.first.map { (member.name, $0) } }
        return Dictionary(signs) { $1 }
    }
}
