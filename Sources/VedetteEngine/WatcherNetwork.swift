// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What the watcher knows of the machine itself, and what it has said of it.
struct NetworkMonitor: Sendable {
    private(set) var reachability = Reachability()
    /// The last word that was committed.
    private var isSaidOffline = false
    /// A word is being committed.
    private var isSaying = false

    mutating func restore(isOffline: Bool) {
        reachability = Reachability(isOffline: isOffline)
        isSaidOffline = isOffline
    }

    mutating func watch(_ origins: Set<String>, answered: Set<String>, silent: Set<String>) {
        reachability.watch(origins, answered: answered, silent: silent)
    }

    enum NetworkChange: Sendable {
        case none
        /// The network is back.
        case back
        /// Perhaps it is gone: the hosts that answered last are to be asked.
        case doubt
    }

    mutating func heard(from origin: String, isAnswered: Bool) -> NetworkChange {
        let wasOffline = reachability.isOffline
        guard isAnswered else { return reachability.fellSilent(origin) ? .doubt : .none }
        reachability.answered(origin)
        return wasOffline && !reachability.isOffline ? .back : .none
    }

    /// The word that is to be committed now, with whatever is committed next; nil when there is none.
    mutating func word(_ detail: String?) -> DraftEvent? {
        guard reachability.isOffline != isSaidOffline, !isSaying else { return nil }
        isSaying = true
        guard reachability.isOffline else { return DraftEvent(.online) }
        let problem = Event.Problem(
            failure: Failure.network.rawValue, detail: "no host answers any more" + (detail.map { "; \($0)" } ?? ""))
        return DraftEvent(.offline, error: problem)
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
        var (answered, silent) = (Set<String>(), Set<String>())
        for entry in watched {
            let (health, origin) = (entry.record.health, entry.origin)
            let failure = health.problem.flatMap { Failure(rawValue: $0.failure) }
            if health.isFailing, failure.map(Reachability.isSilence) ?? false {
                silent.insert(origin)
            } else if entry.record.snapshot != nil {
                answered.insert(origin)
            }
        }
        let origins = Set(watched.map(\.origin))
        network.watch(origins, answered: answered, silent: silent)
        slowHosts.formIntersection(origins)
    }

    func heard(_ result: PollResult, of entry: WatchedSource) {
        if result.silence?.timedOut == true {
            slowHosts.insert(entry.origin)
        } else {
            slowHosts.remove(entry.origin)
        }
        guard let isAnswered = result.isAnswered else { return }
        entry.isSilent = !isAnswered
        switch network.heard(from: entry.origin, isAnswered: isAnswered) {
        case .none: break
        // Those that met silence need not wait for their turn.
        case .back: catchUp(\.isSilent)
        case .doubt: askWitnesses()
        }
    }

    /// A slow source may be the only one that knows better; the server's word beats our wish.
    private func askWitnesses() {
        let now = dependencies.clock.now().wall
        catchUp(within: Watcher.doubt) { entry in
            network.reachability.isAwaited(entry.origin) && entry.record.notBefore.map { $0 <= now } ?? true
        }
    }
}
