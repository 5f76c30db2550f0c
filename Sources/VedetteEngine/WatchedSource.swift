// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// One source and what a watcher remembers of it; it belongs to the watcher's actor.
final class WatchedSource {
    private(set) var source: Source
    private(set) var origin: String
    /// Its number in the scheduler.
    let number: Int
    private(set) var record: SourceRecord
    /// How far the wall clock was ahead of the boot-time clock when the record's times were right.
    private var wallOffset: Int64?
    var poll: Task<Void, Never>?
    var isRemoved = false
    /// What it asks for was changed during its poll: the result is dropped and it is polled anew.
    var mustRestart = false
    /// A person has said that the empty list is true: the next poll believes it.
    var isAccepted = false
    /// Its record is not written yet.
    var isDirty = false
    /// The rows that are to be written with it.
    var refreshes: [StoredItem] = []
    var lastResult: OnceResult?
    /// What the links of its items said.
    var links = LinkCache()
    /// Its last attempt met silence, so it is asked anew when the network is back.
    var isSilent = false

    init(_ source: Source, number: Int) {
        (self.source, self.number) = (source, number)
        origin = WebURL(source.url)?.origin ?? source.url
        record = SourceRecord(name: source.name)
    }

    func replace(with source: Source) {
        if !source.asks(like: self.source) { links = LinkCache() }
        self.source = source
        origin = WebURL(source.url)?.origin ?? source.url
    }

    /// - Parameter now: when its times were right.
    func take(_ record: SourceRecord, at now: Moment) {
        self.record = record
        wallOffset = now.wallOffset
    }

    func change(_ change: (inout SourceRecord) -> Void) { change(&record) }

    /// Where the wall clock was set since, what is stored as wall time moves with it: nothing is early, late or old by
    /// that.
    func followWallClock(_ now: Moment) {
        let jump = now.wallOffset.addingClamped(-(wallOffset ?? now.wallOffset))
        // A clock that is only being corrected moves less between two polls.
        guard abs(jump) > 2000 else { return }
        record.wallClockJumped(by: .milliseconds(jump))
        wallOffset = now.wallOffset
    }

    /// When the next poll is due: never later than its pace or the server's Retry-After explains, whatever the wall
    /// clock did since it was stored.
    func due(now: Moment) -> BootTime {
        followWallClock(now)
        guard let stored = [record.due, record.notBefore].compactMap({ $0 }).max() else { return now.boot }
        let isAsked = record.notBefore.map { $0 > now.wall } ?? false
        let usual = max(source.pace.longestDelay(record.health), PollTransition.offlinePace)
        return now.boot(at: stored, most: isAsked ? max(usual, PollInterval.longestRetryAfter) : usual)
    }
}

extension Moment {
    fileprivate var wallOffset: Int64 { wall.milliseconds.addingClamped(-boot.milliseconds) }
}

extension Source {
    /// Its cookie jar: its server's, else its own.
    public var session: String { server.name.isEmpty ? "source " + name : server.name }

    /// What its failures are told together with: its server, else its host.
    var failureGroup: String { server.name.isEmpty ? WebURL(url)?.authority ?? url : server.name }

    /// The same request, read in the same way: a poll under way is still what the user wants.
    func asks(like other: Source) -> Bool {
        identity == other.identity && kind.fingerprints == other.kind.fingerprints && server.asks(like: other.server)
    }
}

extension Server {
    /// Manners are not the request: a change of them disturbs no poll.
    func asks(like other: Server) -> Bool {
        tls == other.tls && userAgent == other.userAgent && cookies == other.cookies
            && allowsPrivate == other.allowsPrivate && headers.map(\.name) == other.headers.map(\.name)
            && headers.map(\.value) == other.headers.map(\.value) && proxy.words == other.proxy.words
            && credentials?.words == other.credentials?.words
    }

    /// Nil when the server has no secret that could be found in a text.
    var redactor: SecretRedactor? { SecretRedactor(secrets, credentials: credentials) }

    var secrets: [Secret] {
        let proxySecret: Secret? = if case .url(_, _, let password) = proxy { password } else { nil }
        return headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
            + [credentials?.password, proxySecret].compactMap { $0 }
    }
}

extension Credentials {
    /// Equal for equal credentials; never stored or printed.
    fileprivate var words: [String?] {
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
    fileprivate var words: [String?] {
        switch self {
        case .environment: ["environment"]
        case .none: ["none"]
        case .url(let url, let user, let password): ["url", url, user, password?.value]
        }
    }
}
