// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The answers of the linked resources of one source, each for as long as it is fresh.
struct LinkCache: Sendable {
    /// However many links a list names, no more answers are kept (I8).
    static let most = 10_000

    /// A link that failed is requested again after this.
    static let rest = Duration.seconds(300)

    private struct Answer: Sendable {
        /// Nil when it never answered.
        var notes: Fields?
        var until: BootTime
    }

    private var answers: [ItemLink: Answer] = [:]
    /// In which order they were asked: by time, those of one poll would be alike.
    private var turns: [ItemLink: Int] = [:]
    private var turn = 0
    /// Origins that asked for silence (Retry-After).
    private var silences: [String: BootTime] = [:]

    /// Its last answer, fresh or not.
    func notes(of link: ItemLink) -> Fields? { answers[link]?.notes }

    /// Whether it need not or must not be asked.
    func rests(_ link: ItemLink, at now: BootTime) -> Bool {
        if let until = answers[link]?.until, until > now { return true }
        return !silences.isEmpty && WebURL(link.url).flatMap { silences[$0.origin] }.map { $0 > now } ?? false
    }

    /// Its place in the order of asking; nil when it was never asked.
    func lastTurn(of link: ItemLink) -> Int? { turns[link] }

    mutating func ask(_ link: ItemLink) {
        turn += 1
        turns[link] = turn
    }

    mutating func keep(_ notes: Fields, of link: ItemLink, at now: BootTime) {
        set(Answer(notes: notes, until: now.advanced(by: link.lifetime)), of: link)
    }

    mutating func failed(_ link: ItemLink, at now: BootTime) {
        set(Answer(notes: notes(of: link), until: now.advanced(by: LinkCache.rest)), of: link)
    }

    /// Asks nothing of that origin for so long.
    mutating func silence(_ origin: String, for time: Duration, at now: BootTime) {
        silences = silences.filter { $0.value > now }
        silences[origin] = now.advanced(by: time)
    }

    private mutating func set(_ answer: Answer, of link: ItemLink) {
        guard answers[link] != nil || answers.count < LinkCache.most else { return }
        answers[link] = answer
    }

    /// Lets go of what no item names any more.
    mutating func keepOnly(_ links: Set<ItemLink>) {
        answers = answers.filter { links.contains($0.key) }
        turns = turns.filter { links.contains($0.key) }
    }
}
