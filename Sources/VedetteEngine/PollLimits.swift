// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What all pages of one poll may take together; with more, the poll has a gap.
struct PollLimits: Sendable {
    /// Of bodies, inflated.
    var bytes = 256 << 20
    var time = Duration.seconds(600)
}

extension ResponseHeaders {
    /// Whether `Link` has a relation `next` (RFC 8288), or may have: who takes a page for one with a follower reads more
    /// than needed, and no less.
    var nameNextPage: Bool {
        all("Link").contains { line in
            let words = line.lowercased().split { !$0.isLetter }
            return words.contains("rel") && words.contains("next")
        }
    }
}
