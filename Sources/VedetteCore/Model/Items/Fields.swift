// SPDX-License-Identifier: Apache-2.0

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
