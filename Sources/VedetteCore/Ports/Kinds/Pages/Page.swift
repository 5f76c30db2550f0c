// SPDX-License-Identifier: Apache-2.0

/// What one page contains.
public struct Page: Sendable {
    /// Why a page may be an error in the place of a list, although it can be read.
    public enum Doubt: Sendable {
        /// It is one object without a key of its own.
        case keyless
        /// It is an object whose members are the items, and none of them has a value.
        case valueless
    }

    /// The items, in document order.
    public var items: [Item]
    /// The next page; nil when this is the last.
    public var next: NextPage?
    /// Faults of the document that were repaired, for `status`.
    public var warnings: [String]
    /// Warnings that no item of this page has what an option names; they hold where each page of the resource has them.
    public var absences: [String] = []
    /// What to check when no page of the resource has an item although an expression of the user selects them.
    public var emptyHint: String?
    /// How long the document is fresh by its own account (RSS `ttl`); it slows only the default `every`.
    public var freshFor: Duration?
    /// Whether the document of a window says that it is complete (RFC 5005 `fh:complete`); then an absent item is gone.
    public var isComplete: Bool
    /// The time after which the request asked for changes; older items are absent without being gone. Nil for no such
    /// request.
    public var since: Timestamp?
    /// Values that key nothing, since several items have them: `PageBody.sharedKeys`, and values found on this page.
    public var sharedKeys = SharedKeys()
    /// What a record of a stream means; nil where the name of its event alone tells.
    public var record: RecordNote?
    /// Whether a page of HTML has its end tag; false for any other document.
    public var hasEndTag = false
    /// Why it may be an error in the place of a list; nil for no doubt.
    public var doubt: Doubt?

    /// Creates a page.
    public init(
        items: [Item], next: NextPage? = nil, warnings: [String] = [], freshFor: Duration? = nil,
        isComplete: Bool = false, since: Timestamp? = nil
    ) {
        (self.items, self.next, self.warnings, self.freshFor) = (items, next, warnings, freshFor)
        (self.isComplete, self.since) = (isComplete, since)
    }
}
