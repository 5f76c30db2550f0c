// SPDX-License-Identifier: Apache-2.0

/// A resource that an item links to. Equal addresses are requested once and cached for `lifetime`.
public struct ItemLink: Sendable, Hashable {
    /// The relation to the item: `owner`.
    public var name: String
    /// The absolute address.
    public var url: String
    /// How long it is cached; zero for one poll.
    public var lifetime: Duration

    /// Creates a link.
    public init(_ name: String, url: String, lifetime: Duration = .seconds(3600)) {
        (self.name, self.url, self.lifetime) = (name, url, lifetime)
    }
}
