// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Caches the notes of a source's linked resources until each expires.
struct LinkCache: Sendable {
    /// However many links a list names, no more notes are kept (I8).
    static let maximum = 10_000

    /// A link that failed is requested again after this.
    static let retryDelay = Duration.seconds(300)

    private struct Entry: Sendable {
        /// Nil before the first good response.
        var notes: Fields?
        var expires: BootTime
    }

    private var entries: [ItemLink: Entry] = [:]
    /// The number of each link's last request. Times would not order the requests of one poll.
    private var requestNumbers: [ItemLink: Int] = [:]
    private var lastNumber = 0
    /// Origins that sent a Retry-After.
    private var blockedUntil: [String: BootTime] = [:]

    /// The last notes, even after they expired.
    func notes(of link: ItemLink) -> Fields? { entries[link]?.notes }

    /// Whether it need not be requested, or must not be.
    func isFreshOrBlocked(_ link: ItemLink, at now: BootTime) -> Bool {
        if let expires = entries[link]?.expires, expires > now { return true }
        return !blockedUntil.isEmpty && WebURL(link.url).flatMap { blockedUntil[$0.origin] }.map { $0 > now } ?? false
    }

    /// The number of its last request; nil when it was never requested.
    func requestNumber(of link: ItemLink) -> Int? { requestNumbers[link] }

    mutating func noteRequest(of link: ItemLink) {
        lastNumber += 1
        requestNumbers[link] = lastNumber
    }

    mutating func keep(_ notes: Fields, of link: ItemLink, at now: BootTime) {
        set(Entry(notes: notes, expires: now.advanced(by: link.lifetime)), of: link)
    }

    mutating func failed(_ link: ItemLink, at now: BootTime) {
        set(Entry(notes: notes(of: link), expires: now.advanced(by: LinkCache.retryDelay)), of: link)
    }

    /// Requests nothing of that origin for so long.
    mutating func block(_ origin: String, for time: Duration, at now: BootTime) {
        blockedUntil = blockedUntil.filter { $0.value > now }
        blockedUntil[origin] = now.advanced(by: time)
    }

    private mutating func set(_ entry: Entry, of link: ItemLink) {
        guard entries[link] != nil || entries.count < LinkCache.maximum else { return }
        entries[link] = entry
    }

    /// Removes links that no item has any more.
    mutating func keepOnly(_ links: Set<ItemLink>) {
        entries = entries.filter { links.contains($0.key) }
        requestNumbers = requestNumbers.filter { links.contains($0.key) }
    }
}
