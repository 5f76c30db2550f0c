// SPDX-License-Identifier: Apache-2.0

/// One keyed thing inside a source: a virtual system, a status update, a feed entry, a row.
public struct Item: Sendable, Hashable {
    /// What makes it the same item at the next poll; see `IndexedText`.
    public var key: String
    /// The title; nil for none.
    public var title: String?
    /// The value of the field that is the item's state.
    public var state: String?
    /// The address of a page about it, for people.
    public var url: String?
    /// When it was last changed, else published, by the server. It orders a window and is never compared.
    public var time: Timestamp?
    /// Values that are compared from poll to poll, as title and state are.
    public var fields: Fields
    /// Values that are stored and shown but never compared: the server's texts, counters.
    public var notes: Fields
    /// Numbers that are stored and shown, and compared only with the bounds that rules name: latency, days left.
    public var measures: Fields

    /// The decimal sign of fields with a number that is ambiguous alone, or was before the last change: see `DecimalSigns`. As
    /// read, the sign by which measures were written. It is never compared.
    public var decimals: [String: Character]

    /// The value that `item.NAME` means in rules and templates: `key`, `title`, `state`, `url`, else the field, the measure or
    /// the note of that name.
    public subscript(name: String) -> Value? {
        switch name {
        case "key": .text(key)
        case "title": title.map(Value.text)
        case "name": fields["name"] ?? notes["name"] ?? title.map(Value.text)
        case "state": state.map(Value.text)
        case "url": url.map(Value.text)
        default: fields[name] ?? measures[name] ?? notes[name]
        }
    }

    /// Whether it has a state, a field, a note or a measure.
    public var hasValues: Bool { state != nil || !fields.isEmpty || !notes.isEmpty || !measures.isEmpty }

    /// A digest of everything that is compared. Equal digests mean that nothing changed, so that the stored item need not be
    /// decoded.
    public var digest: UInt64 {
        var digest = StableHash()
        digest.add(title ?? "\u{0}")
        digest.add(state ?? "\u{0}")
        for field in fields {
            digest.add(field.name)
            switch field.value {
            case .text(let text): digest.add(text)
            case .list(let list):
                digest.add(UInt64(list.count))
                for text in list { digest.add(text) }
            }
        }
        return digest.value
    }
}

// In an extension, beside the initialiser that the compiler makes: one in the struct makes the item, copies it with a
// reference count for each value, and destroys the first (Swift 6.3.1, optimised).
extension Item {
    /// Creates an item.
    public init(
        key: String, title: String? = nil, state: String? = nil, url: String? = nil, time: Timestamp? = nil,
        fields: Fields = Fields(), notes: Fields = Fields(), measures: Fields = Fields()
    ) {
        self.init(
            key: key, title: title, state: state, url: url, time: time, fields: fields, notes: notes,
            measures: measures, decimals: [:])
    }
}
