// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Tracks which hosts answer: whether this machine is offline, whether that was announced, and which origins time out.
final class NetworkMonitor {
    /// What the watcher does after a poll's answer, or its silence.
    enum Action: Sendable, CaseIterable {
        /// The network is back: sources whose last attempt met silence are polled at once.
        case pollSilentSources
        /// Two hosts fell silent: those that answered last show whether the network is gone.
        case pollReferenceHosts
    }

    private var offlineDetector = OfflineDetector()
    /// Origins whose last attempt timed out; their polls use the lane of slow hosts.
    private(set) var slowOrigins = Set<String>()
    /// The last announcement that was committed.
    private var isAnnouncedOffline = false
    /// An announcement is being committed.
    private var isAnnouncing = false
    /// What polls made necessary since the last `takeActions`: other polls may end during a commit.
    private var actions = Set<Action>()

    var isOffline: Bool { offlineDetector.isOffline }

    func restore(isOffline: Bool) {
        offlineDetector = OfflineDetector(isOffline: isOffline)
        isAnnouncedOffline = isOffline
    }

    func restore(_ record: SourceRecord, origin: String) {
        if record.health.problem?.failure == Failure.timeout.rawValue { slowOrigins.insert(origin) }
    }

    /// Tells the detector which origins are watched. No answer is expected from those that have long been failing.
    func watch(_ sources: [WatchedSource]) {
        var (answered, silent) = (Set<String>(), Set<String>())
        for source in sources {
            let health = source.record.health
            let failure = health.problem.flatMap { Failure(rawValue: $0.failure) }
            if health.isFailing, failure.map(OfflineDetector.isSilence) ?? false {
                silent.insert(source.origin)
            } else if source.record.snapshot != nil {
                answered.insert(source.origin)
            }
        }
        let origins = Set(sources.map(\.origin))
        offlineDetector.watch(origins, answered: answered, silent: silent)
        slowOrigins.formIntersection(origins)
    }

    func isSlow(_ origin: String) -> Bool { slowOrigins.contains(origin) }

    /// Whether the answer of that origin would show that there is a network.
    func isAwaited(_ origin: String) -> Bool { offlineDetector.isAwaited(origin) }

    /// Notes whether a source's host answered. `takeActions` returns what follows.
    func pollEnded(_ result: PollResult, of source: WatchedSource) {
        let origin = source.origin
        if result.unanswered?.timedOut == true {
            slowOrigins.insert(origin)
        } else if !slowOrigins.isEmpty {
            slowOrigins.remove(origin)
        }
        guard let isAnswered = result.isAnswered else { return }
        source.isSilent = !isAnswered
        let wasOffline = offlineDetector.isOffline
        if !isAnswered {
            if offlineDetector.fellSilent(origin) { actions.insert(.pollReferenceHosts) }
            return
        }
        offlineDetector.answered(origin)
        if wasOffline, !offlineDetector.isOffline { actions.insert(.pollSilentSources) }
    }

    func takeActions() -> [Action] {
        defer { actions = [] }
        return Action.allCases.filter(actions.contains)
    }

    /// The event that the next commit carries; nil when there is nothing to announce. `announced` must follow.
    func pendingEvent(_ detail: String?) -> DraftEvent? {
        guard offlineDetector.isOffline != isAnnouncedOffline, !isAnnouncing else { return nil }
        isAnnouncing = true
        guard offlineDetector.isOffline else { return DraftEvent(.online) }
        let problem = Event.Problem(
            failure: Failure.network.rawValue, detail: "no host answers any more" + (detail.map { "; \($0)" } ?? ""))
        return DraftEvent(.offline, error: problem)
    }

    /// Ends an announcement.
    /// - Parameter kind: what was committed; nil when the commit failed, so that it is announced again.
    func announced(_ kind: Event.Kind?) {
        isAnnouncing = false
        if let kind { isAnnouncedOffline = kind == .offline }
    }
}
