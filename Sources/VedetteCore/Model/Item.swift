// SPDX-License-Identifier: Apache-2.0

/// The value of a field: a text as the server wrote it, or a list of texts.
public enum Value: Sendable, Hashable, ExpressibleByStringLiteral {
    /// One text.
    case text(String)
    /// Several texts.
    case list([String])

    /// Creates a text.
    public init(stringLiteral text: String) { self = .text(text) }

    /// The value as text for templates, comparisons and terminals; a list is joined by `, `.
    public var description: String {
        switch self {
        case .text(let text): text
        case .list(let list): list.joined(separator: ", ")
        }
    }
}

/// Named values, sorted by name. There are few, so a search is linear.
public struct Fields: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
    /// A name and its value.
    public struct Field: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value.
        public let value: Value
    }

    private var fields: [Field] = []

    /// Creates an empty collection.
    public init() {}

    /// Creates a collection; of two equal names the last counts.
    public init(dictionaryLiteral elements: (String, Value)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// Whether there are no values.
    public var isEmpty: Bool { fields.isEmpty }

    /// Reserves room for this number of values.
    public mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    /// Iterates in the order of the names.
    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

    /// The value of a name; nil for none.
    public subscript(name: String) -> Value? {
        get { fields.first { $0.name == name }?.value }
        set {
            // Readers add values in order of name, so that most are appended.
            if let newValue, fields.last.map({ $0.name < name }) ?? true {
                fields.append(Field(name: name, value: newValue))
                return
            }
            let at = fields.firstIndex { $0.name >= name } ?? fields.count
            let exists = at < fields.count && fields[at].name == name
            guard let newValue else {
                if exists { fields.remove(at: at) }
                return
            }
            if exists {
                fields[at] = Field(name: name, value: newValue)
            } else {
                fields.insert(Field(name: name, value: newValue), at: at)
            }
        }
    }
}

/// One keyed thing inside a source: a virtual system, a status update, a feed entry, a row.
public struct Item: Sendable, Hashable {
    /// What makes it the same item at the next poll.
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

    /// Creates an item.
    public init(
        key: String, title: String? = nil, state: String? = nil, url: String? = nil, time: Timestamp? = nil,
        fields: Fields = Fields(), notes: Fields = Fields(), measures: Fields = Fields()
    ) {
        (self.key, self.title, self.state, self.url) = (key, title, state, url)
        (self.time, self.fields, self.notes, self.measures) = (time, fields, notes, measures)
    }

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

/// One difference of one field between two good observations of an item; nil means absent.
public struct FieldChange: Sendable, Hashable {
    /// The field's name.
    public var field: String
    /// The value in the last good observation.
    public var from: Value?
    /// The value now.
    public var to: Value?
    /// Seconds for which the item had `from`; nil when unknown.
    public var lasted: Double?

    /// Creates a change.
    public init(field: String, from: Value?, to: Value?, lasted: Double? = nil) {
        (self.field, self.from, self.to, self.lasted) = (field, from, to, lasted)
    }
}
