// SPDX-License-Identifier: Apache-2.0

/// Whether a state is good news: the colour of a state in a terminal, on the page, on a badge and in a chat.
public enum StateMeaning: Sendable, Hashable {
    /// It works, or is done.
    case good
    /// It is on its way, or works in part.
    case busy
    /// It failed.
    case bad

    /// Recognises the words of common states, in English: `Ready for use`, `in_progress`, `FAILED`. Of several the worst
    /// counts, and none behind a negation. Returns nil for any other state: a stopped system may be as it should.
    public init?(of state: String) {
        let words = state.prefix(StateMeaning.longest).lowercased().split { !$0.isLetter }.map(String.init)
            .prefix { !StateMeaning.negations.contains($0) }
        if words.contains(where: { StateMeaning.badWords.contains($0) }) {
            self = .bad
        } else if words.contains(where: { StateMeaning.busyWords.contains($0) }) {
            self = .busy
        } else if words.contains(where: { StateMeaning.goodWords.contains($0) }) {
            self = .good
        } else {
            return nil
        }
    }

    /// Characters of a state that are read; a state may be as long as a text.
    private static let longest = 200

    private static let negations: Set<String> = ["no", "not", "non", "without"]

    private static let badWords: Set<String> = [
        "aborted", "alarm", "alert", "broken", "crashed", "crashloopbackoff", "crit", "critical", "dead", "denied",
        "down",
        "emergency", "err", "error", "errored", "expired", "fail", "failed", "failing", "failure", "fatal", "firing",
        "lost", "offline", "outage", "red", "refused", "rejected", "timed", "timeout", "unhealthy", "unreachable",
    ]

    private static let busyWords: Set<String> = [
        "acknowledged", "amber", "building", "canceled", "cancelled", "configuring", "creating", "degraded", "deleting",
        "deploying", "draining",
        "identified", "initializing", "installing", "investigating", "launching", "loading", "maintenance", "migrating",
        "monitoring", "orange", "pending", "preparing", "processing", "progress", "provisioning", "queued", "rebooting",
        "restarting", "resuming", "retrying", "rolling", "scheduled", "shutting", "stale", "starting", "stopping",
        "storing",
        "suspending", "syncing", "transferring", "unknown", "unstable", "updating", "upgrading", "waiting", "warn",
        "warning",
        "yellow",
    ]

    private static let goodWords: Set<String> = [
        "active", "alive", "available", "complete", "completed", "connected", "deployed", "done", "fixed", "green",
        "healthy", "normal", "ok", "online", "operational", "pass", "passed", "passing", "ready", "resolved", "running",
        "started",
        "succeeded", "success", "successful", "synced", "up",
    ]
}

extension SourceStatus.Health {
    /// What the health means; nil for a source that was never polled.
    public var meaning: StateMeaning? {
        switch self {
        case .ok: .good
        case .retrying: .busy
        case .failing, .suspect: .bad
        case .new: nil
        }
    }
}

extension DeliveryState {
    /// What the state means; nil where nothing is to be said of it.
    public var meaning: StateMeaning? {
        switch self {
        case .sent: .good
        case .retry: .busy
        case .paused, .dead: .bad
        case .pending, .suppressed: nil
        }
    }
}

extension Event.Kind {
    /// What the event says of a source, a sink or the watcher; nil for an event of an item, whose state decides.
    public var meaning: StateMeaning? {
        switch self {
        case .recovered, .online, .equal: .good
        case .stale, .suspect: .busy
        case .failing, .offline, .unequal, .paused, .disabled: .bad
        default: nil
        }
    }
}
