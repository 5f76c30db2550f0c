// SPDX-License-Identifier: Apache-2.0

/// What a field holds: text as the server wrote it, or a list of texts.
public enum Value: Sendable, Hashable, ExpressibleByStringLiteral {
    case text(String)
    case list([String])

    public init(stringLiteral text: String) { self = .text(text) }

    /// How the value reads in a template, a comparison or a terminal.
    public var description: String {
        switch self {
        case .text(let text): text
        case .list(let list): list.joined(separator: ", ")
        }
    }
}

/// Named values in order of name: a handful, so a search is a walk.
public struct Fields: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
    public struct Field: Sendable, Hashable {
        public let name: String
        public let value: Value
    }

    private var fields: [Field] = []

    public init() {}

    public init(dictionaryLiteral elements: (String, Value)...) {
        for (name, value) in elements { self[name] = value }
    }

    public var isEmpty: Bool { fields.isEmpty }

    public mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

    public subscript(name: String) -> Value? {
        get { fields.first { $0.name == name }?.value }
        set {
            // A reader that goes by name adds each behind the last.
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
    public var title: String?
    /// The field that a source calls its state.
    public var state: String?
    /// Where a person looks at it.
    public var url: String?
    /// When the server says it was last changed, else published. It orders a window; it is never compared.
    public var time: Timestamp?
    /// Compared from poll to poll, as title and state are.
    public var fields: Fields
    /// Stored and shown, never compared: the server's words, measures, counters.
    public var notes: Fields
    /// Numbers that are stored and shown, and compared only with the bounds that rules name: latency, days left.
    public var measures: Fields

    public init(
        key: String, title: String? = nil, state: String? = nil, url: String? = nil, time: Timestamp? = nil,
        fields: Fields = Fields(), notes: Fields = Fields(), measures: Fields = Fields()
    ) {
        (self.key, self.title, self.state, self.url) = (key, title, state, url)
        (self.time, self.fields, self.notes, self.measures) = (time, fields, notes, measures)
    }

    /// `key`, `title`, `state`, `url`, else the field, the measure or the note of that name. What `item.X` means everywhere.
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

    /// A digest of all that is compared. Equal digests mean "no change" without decoding the stored item.
    public var digest: UInt64 {
        var digest = Digest()
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
    public var field: String
    public var from: Value?
    public var to: Value?
    /// Seconds that `from` had lasted, where known.
    public var lasted: Double?

    public init(field: String, from: Value?, to: Value?, lasted: Double? = nil) {
        (self.field, self.from, self.to, self.lasted) = (field, from, to, lasted)
    }
}
