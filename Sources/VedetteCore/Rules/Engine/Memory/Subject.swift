// SPDX-License-Identifier: Apache-2.0

/// What an event is about: an item of a source, or the source itself.
public struct Subject: Sendable, Hashable {
    /// The source's name.
    public var source: String
    /// The item's key; nil for the source itself.
    public var key: String?

    /// The subject of an event.
    public init(_ event: Event) { (source, key) = (event.source, event.item?.key) }

    /// Creates a subject.
    public init(source: String, key: String?) { (self.source, self.key) = (source, key) }

    /// A text that no other subject has.
    public var text: String { key.map { source + "\u{1F}" + $0 } ?? source }
}
