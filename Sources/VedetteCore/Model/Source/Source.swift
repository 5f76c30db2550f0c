// SPDX-License-Identifier: Apache-2.0

/// A source as it is configured.
public struct Source: Sendable {
    /// What the first good poll does with the items that it finds.
    public enum First: String, Sendable, CaseIterable {
        /// They become the snapshot without events.
        case baseline
        /// Each makes an event.
        case announce
    }

    /// What an empty list means after a list that had items.
    public enum Empty: String, Sendable, CaseIterable {
        /// The snapshot is kept until further polls agree.
        case suspect
        /// The items are gone.
        case valid
    }

    /// The name, unique over all files.
    public var name: String
    /// The name of the kind.
    public var kindName: String
    /// How it is requested and read.
    public var kind: any SourceKind
    /// The connection settings; for a source with a URL of its own, a server without a name.
    public var server: Server
    /// The absolute URL.
    public var url: String
    /// How often it is polled.
    public var interval: PollInterval
    /// Consecutive failed polls that make it `failing`.
    public var fails: Int
    /// What the first good poll does with the items that it finds.
    public var first: First
    /// What an empty list means after a list that had items.
    public var empty: Empty
    /// How it reads records that its server pushes; nil for a source that is only polled.
    public var stream: StreamSettings?
    /// The only one of several watchers that polls it; nil for any.
    public var watcher: String?
    /// What it changes in texts before they are compared.
    public var filter = TextFilter()

    /// Whether it is a file or a program of the machine of its watcher.
    public var isLocal: Bool { url.hasPrefix("file:") || CommandURL.arguments(url) != nil }

    /// Creates a source.
    public init(
        name: String, kindName: String, kind: any SourceKind, server: Server, url: String, interval: PollInterval,
        fails: Int = Health.usualFails, first: First = .baseline, empty: Empty = .suspect, stream: StreamSettings? = nil
    ) {
        (self.name, self.kindName, self.kind, self.server, self.url) = (name, kindName, kind, server, url)
        (self.interval, self.fails, self.first, self.empty) = (interval, fails, first, empty)
        self.stream = stream
    }

    /// A digest of the URL, which may hold a secret.
    public var urlDigest: UInt64 {
        var digest = StableHash()
        digest.add(url)
        return digest.value
    }

    /// A digest of URL, kind, items and key. Polls with another identity cannot be compared.
    public var identity: UInt64 {
        var digest = StableHash()
        digest.add(url)
        digest.add(kindName)
        digest.add(kind.identity)
        if let keys = filter.keyIdentity { digest.add(keys) }
        return digest.value
    }

    /// A digest of how each compared field is read: `SourceKind.fingerprints`, and what `filter` changes.
    public var fingerprints: [String: UInt64] { filter.fingerprints(kind.fingerprints) }

    /// Changes the texts of items as `filter` has it, unless the kind has done so while it read them.
    public func filterTexts(of page: inout Page) throws(ReadError) {
        if !kind.filtersTexts { page.warnings += try filter.apply(to: &page.items) }
    }
}
