// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// One source and its record in memory. It belongs to the watcher's actor.
final class WatchedSource {
    private(set) var source: Source
    private(set) var origin: String
    /// Its number in the scheduler.
    let number: Int
    private(set) var record: SourceRecord
    /// The wall clock's lead over the boot-time clock when the record's times were right.
    private var wallOffset: Int64?
    /// Its poll under way.
    var poll: Task<Void, Never>?
    var isRemoved = false
    /// Its request was changed during its poll: the result is dropped and it is polled again.
    var mustRestart = false
    /// Its URL was changed since the start of its poll: a Retry-After of the old one does not hold for the new one.
    var hasMoved = false
    /// Its record waits in `DeferredWrites`.
    var hasDeferredWrite = false
    /// Rows to be written with its record.
    var refreshes: [StoredItem] = []
    var lastResult: OnceResult?
    /// What the links of its items answered.
    var links = LinkCache()
    /// Its health is not checked before: the journal refused the last change.
    var nextHealthCheck: BootTime?
    /// Its last attempt met silence, so it is polled at once when the network is back.
    var isSilent = false

    init(_ source: Source, number: Int) {
        (self.source, self.number) = (source, number)
        origin = WebURL(source.url)?.origin ?? source.url
        record = SourceRecord(name: source.name)
    }

    func replace(with source: Source) {
        if !source.hasSameRequest(as: self.source) { links = LinkCache() }
        self.source = source
        origin = WebURL(source.url)?.origin ?? source.url
    }

    /// - Parameter now: when the record's times were right.
    func take(_ record: SourceRecord, at now: Moment) {
        self.record = record
        wallOffset = now.wallOffset
    }

    /// Takes a record that an earlier run stored. One whose last poll lies in the future was stored while the wall clock
    /// was ahead: its times are moved back by that, and it is polled at once.
    func restore(_ stored: SourceRecord, at now: Moment) {
        var record = stored
        if let last = record.health.lastPollAt, last > now.wall.advanced(by: WatchedSource.smallestJump) {
            record.wallClockJumped(by: .milliseconds(now.wall.milliseconds - last.milliseconds))
            (record.due, record.health.lastPollAt) = (nil, now.wall)
        }
        take(record, at: now)
    }

    /// Makes it due at once.
    func restart() {
        record.due = nil
        if hasMoved { record.notBefore = nil }
    }

    func change(_ change: (inout SourceRecord) -> Void) { change(&record) }

    /// Moves the record's wall times when the wall clock was set since they were right, so that nothing is early, late or
    /// old because of it.
    func followWallClock(_ now: Moment) {
        let jump = now.wallOffset.addingClamped(-(wallOffset ?? now.wallOffset))
        guard abs(jump) > WatchedSource.smallestJump.wholeMilliseconds else { return }
        record.wallClockJumped(by: .milliseconds(jump))
        wallOffset = now.wallOffset
    }

    /// A clock that is only being corrected moves less between two polls.
    private static let smallestJump = Duration.seconds(2)

    /// When the next poll is due: never later than its interval or the server's Retry-After explain, whatever the wall
    /// clock did since the time was stored.
    func due(now: Moment) -> BootTime {
        followWallClock(now)
        guard let stored = [record.due, record.notBefore].compactMap({ $0 }).max() else { return now.boot }
        let hasRetryAfter = record.notBefore.map { $0 > now.wall } ?? false
        let usual = max(source.interval.longestDelay(record.health), PollTransition.shortestOfflineDelay)
        return now.boot(at: stored, most: hasRetryAfter ? max(usual, PollInterval.longestRetryAfter) : usual)
    }

    /// The same, or earlier where a rule waits for a poll to confirm something.
    /// - Parameter confirmation: when a rule wants that poll; nil when none does.
    func due(now: Moment, confirmation: BootTime?) -> BootTime {
        let usual = due(now: now)
        guard let confirmation, confirmation < usual else { return usual }
        // A poll at or after that time did not confirm it: the next one comes at the usual interval.
        if let last = record.health.lastPollAt, last >= now.wall(at: confirmation) { return usual }
        let due = max(confirmation, now.boot)
        // Retry-After takes precedence.
        if let notBefore = record.notBefore, notBefore > now.wall(at: due) { return usual }
        return due
    }

    /// A poll within this time of a health deadline decides in its place.
    private static let soon = Duration.seconds(30)
    /// Bounds a health deadline: ten times the longest interval is less.
    private static let longestDeadline = Duration.seconds(100 * 366 * 86_400)

    /// When it becomes failing or stale although no poll shows it; nil when it does not, or when a poll decides.
    /// - Parameter nextPoll: when it is polled next.
    func healthDeadline(now: Moment, nextPoll: BootTime) -> BootTime? {
        followWallClock(now)
        let health = record.health
        guard let at = health.deadline(source.pace, fails: source.fails, notBefore: record.notBefore) else {
            return nil
        }
        let deadline = max(now.boot(at: at, most: WatchedSource.longestDeadline), nextHealthCheck ?? now.boot)
        return nextPoll <= deadline.advanced(by: WatchedSource.soon) ? nil : deadline
    }
}

extension Source {
    /// Its cookie jar: its server's, else its own.
    public var session: String { server.name.isEmpty ? "source " + name : server.name }

    /// Its failures share one message with those of the same group: its server, else its host.
    var failureGroup: String { server.name.isEmpty ? WebURL(url)?.authority ?? url : server.name }

    /// Whether both are asked and read in the same way, so that a poll under way is still right.
    func hasSameRequest(as other: Source) -> Bool {
        identity == other.identity && kind.fingerprints == other.kind.fingerprints
            && server.hasSameRequest(as: other.server)
    }
}

extension Server {
    /// Limits are not part of the request: a change of them disturbs no poll.
    func hasSameRequest(as other: Server) -> Bool {
        tls == other.tls && userAgent == other.userAgent && cookies == other.cookies
            && allowsPrivate == other.allowsPrivate && headers.map(\.name) == other.headers.map(\.name)
            && headers.map(\.value) == other.headers.map(\.value) && proxy.parts == other.proxy.parts
            && credentials?.parts == other.credentials?.parts
    }

    /// Nil when the server has no secret that could be found in a text.
    var redactor: SecretRedactor? { SecretRedactor(secrets, credentials: credentials) }

    /// Finds also the token that was granted for the request, which is no part of the configuration.
    func redactor(for response: Response) -> SecretRedactor? {
        guard let token = response.token else { return redactor }
        return SecretRedactor(secrets + [token], credentials: credentials)
    }

    var secrets: [Secret] {
        let proxySecret: Secret? = if case .url(_, _, let password) = proxy { password } else { nil }
        return headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
            + [credentials?.password, proxySecret].compactMap { $0 }
    }
}

extension Credentials {
    /// Equal for equal credentials; never stored or printed.
    fileprivate var parts: [String?] {
        switch self {
        case .basic(let user, let password): ["basic", user, password.value]
        case .digest(let user, let password): ["digest", user, password.value]
        case .bearer(let token): ["bearer", token.value]
        case .query(let name, let value): ["query", name, value.value]
        case .grant(let grant):
            [
                "grant", grant.url, grant.client, grant.secret.value, grant.scope, grant.audience,
                grant.inBody ? "body" : "header",
            ]
        }
    }
}

extension Proxy {
    fileprivate var parts: [String?] {
        switch self {
        case .environment: ["environment"]
        case .none: ["none"]
        case .url(let url, let user, let password): ["url", url, user, password?.value]
        }
    }
}
