// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What the read stage hands on.
enum ReadResult: Sendable {
    case items(ReadItems)
    case ended(PollResult)
}

/// Every item of a poll's pages, and what is to be compared with them.
struct ReadItems: Sendable {
    var observation: Observation
    var stored: [String: StoredItem]
    /// Why the reading of a window stopped before it reached known entries; nil when it did reach them.
    var gap: Event.Problem?
    var warnings: [String] = []
    var freshFor: Duration?
    var retryAfter: Duration?
    var unanswered: FetchError?
    var links: LinkCache?
    /// Where permanent redirects led; nil for none.
    var movedTo: String?
}
