// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The metadata of a feed.
struct FeedHead {
    var isAtom = false
    /// RSS whose default namespace is Atom's by mistake.
    var isMisplaced = false
    var isOldAtom = false
    var lacksNamespace = false
    var hasChannel = false
    var next: FeedLinkResolver.PageLink?
    var archive: FeedLinkResolver.PageLink?
    /// This document contains every entry of the feed (RFC 5005 §2).
    var isComplete = false
    var authors: [String] = []
    var schedule = FeedSchedule()

    /// - Parameter address: the address of an author that ends without a name.
    mutating func take(_ name: FeedName, _ element: borrowing XMLEnd, address: String?) {
        switch name {
        case .ttl: schedule.ttl = Int(element.trimmed)
        case .hour: schedule.skip(hour: element.trimmed)
        case .day: schedule.skip(day: element.trimmed)
        case .updatePeriod: schedule.period = element.trimmed
        case .updateFrequency: schedule.frequency = Int(element.trimmed)
        case .name:
            // Each entry without an author gets all of them, so their number is bounded.
            if authors.count < 5 { FeedEntry.add(HTMLText.collapse(element.bytes, limit: 200), to: &authors) }
        case .author, .person:
            if authors.count < 5, let address { FeedEntry.add(HTMLText.collapse(address, limit: 200), to: &authors) }
        default: break
        }
    }
}
