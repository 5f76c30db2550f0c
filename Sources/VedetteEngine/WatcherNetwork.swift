// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What the watcher knows of the machine itself, and what it has said of it.
struct Network: Sendable {
    private(set) var reachability = Reachability()
    /// The last word that was committed.
    private var isSaidOffline = false
    /// A word is being committed.
    private var isSaying = false

    mutating func restore(isOffline: Bool) {
        reachability = Reachability(isOffline: isOffline)
        isSaidOffline = isOffline
    }

    mutating func watch(_ origins: Set<String>, silent: Set<String>) { reachability.watch(origins, silent: silent) }

    /// - Returns: true when the network is back.
    mutating func heard(from origin: String, isAnswered: Bool) -> Bool {
        let wasOffline = reachability.isOffline
        if isAnswered { reachability.answered(origin) } else { reachability.fellSilent(origin) }
        return wasOffline && !reachability.isOffline
    }

    /// The word that is to be committed now, with whatever is committed next; nil when there is none.
    mutating func word(_ detail: String?) -> EventSketch? {
        guard reachability.isOffline != isSaidOffline, !isSaying else { return nil }
        isSaying = true
        guard reachability.isOffline else { return EventSketch(.online) }
        let problem = Event.Problem(
            failure: Failure.network.rawValue, detail: "no host answers any more" + (detail.map { "; \($0)" } ?? ""))
        return EventSketch(.offline, error: problem)
    }

    /// - Parameter word: of the commit; nil when it failed, so that the word is said again.
    mutating func said(_ word: Event.Kind?) {
        isSaying = false
        if let word { isSaidOffline = word == .offline }
    }
}

extension Watcher {
    /// Tells the network which origins there are. Of those that have long been failing nobody expects an answer.
    func watchOrigins() {
        let silent = watched.filter { entry in
            let failure = entry.record.health.problem.flatMap { Failure(rawValue: $0.failure) }
            return entry.record.health.isFailing && failure.map(Reachability.isSilence) ?? false
        }
        network.watch(Set(watched.map(\.origin)), silent: Set(silent.map(\.origin)))
    }

    func heard(_ result: PollResult, of entry: WatchedSource) {
        if result.silence?.timedOut == true {
            suspects.insert(entry.origin)
        } else {
            suspects.remove(entry.origin)
        }
        guard let isAnswered = result.isAnswered else { return }
        entry.isSilent = !isAnswered
        // Those that met silence need not wait for their turn.
        if network.heard(from: entry.origin, isAnswered: isAnswered) { catchUp(\.isSilent) }
    }
}
