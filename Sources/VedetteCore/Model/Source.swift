// SPDX-License-Identifier: Apache-2.0

/// One thing that is polled, as it is configured.
public struct Source: Sendable {
    /// What the first good poll does with what it finds.
    public enum First: String, Sendable, CaseIterable {
        case baseline, announce
    }

    /// What an empty list means after a list that had items.
    public enum Empty: String, Sendable, CaseIterable {
        case suspect, valid
    }

    public var name: String
    public var kindName: String
    public var kind: any SourceKind
    /// For a source with a URL of its own, a server without a name.
    public var server: Server
    /// Absolute.
    public var url: String
    public var pace: PollInterval
    /// Consecutive failed polls that make it `failing`.
    public var fails: Int
    public var first: First
    public var empty: Empty

    public init(
        name: String, kindName: String, kind: any SourceKind, server: Server, url: String, pace: PollInterval,
        fails: Int = 3,
        first: First = .baseline, empty: Empty = .suspect
    ) {
        (self.name, self.kindName, self.kind, self.server, self.url) = (name, kindName, kind, server, url)
        (self.pace, self.fails, self.first, self.empty) = (pace, fails, first, empty)
    }

    /// What makes the items of two polls comparable at all: URL, kind, items and key.
    public var identity: UInt64 {
        var digest = Digest()
        digest.add(url)
        digest.add(kindName)
        digest.add(kind.identity)
        return digest.value
    }
}

/// How often a source is polled.
public struct PollInterval: Sendable, Hashable {
    public var every: Duration
    /// True when the user wrote it: then it beats what the server says of freshness.
    public var isExplicit: Bool
    /// While any item is in one of these states, `whileEvery` holds instead.
    public var whileStates: [String]
    public var whileEvery: Duration?

    public init(every: Duration, isExplicit: Bool = true, whileStates: [String] = [], whileEvery: Duration? = nil) {
        (self.every, self.isExplicit) = (every, isExplicit)
        (self.whileStates, self.whileEvery) = (whileStates, whileEvery)
    }
}
