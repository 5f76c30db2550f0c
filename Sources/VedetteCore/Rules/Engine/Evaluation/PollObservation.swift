// SPDX-License-Identifier: Apache-2.0

/// What a poll observed of a source besides its events.
public struct PollObservation: Sendable {
    /// Whether the poll was good: then it confirms what is still true.
    public var isGood: Bool
    /// Items absent from a list for the first time. They may be gone, so the poll confirms nothing about them.
    public var missing: Set<String> = []
    /// Items that left without an event: they dropped out of a window long ago, or have other keys now.
    public var forgotten: Set<String> = []
    /// Whether the response means down; nil for a source whose items are in the response.
    public var isDown: Bool?
    /// What sources that fail together have in common, as a person knows it; nil when unknown.
    public var server: String?
    /// The items that the poll stored.
    public var stored: [StoredItem] = []
    /// The keys of items that the poll deleted.
    public var deleted: [String] = []
    /// All items of a new baseline; nil when the poll was compared with the one before.
    public var baseline: [StoredItem]?

    /// Items that are read otherwise than in the poll before, without an event.
    public var reread: [StoredItem] = []

    /// Creates an observation.
    public init(isGood: Bool = true) { self.isGood = isGood }
}
