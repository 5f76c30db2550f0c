// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One source and what a watcher remembers of it; it belongs to the watcher's actor.
final class WatchedSource {
    private(set) var source: Source
    private(set) var origin: String
    /// Its number in the scheduler.
    let number: Int
    var record: SourceRecord
    var poll: Task<Void, Never>?
    var isRemoved = false
    /// What it asks for was changed during its poll: the result is dropped and it is polled anew.
    var mustRestart = false
    /// A person has said that the empty list is true: the next poll believes it.
    var isAccepted = false
    /// Its record is not written yet.
    var isDirty = false
    var lastResult: OnceResult?

    init(_ source: Source, number: Int) {
        (self.source, self.number) = (source, number)
        origin = WebURL(source.url)?.origin ?? source.url
        record = SourceRecord(name: source.name)
    }

    func replace(with source: Source) {
        self.source = source
        origin = WebURL(source.url)?.origin ?? source.url
    }

    /// When the next poll is due: never later than its pace or the server's Retry-After explains, whatever the wall clock
    /// did since it was stored.
    func due(now: Moment) -> BootTime {
        guard let stored = [record.due, record.notBefore].compactMap({ $0 }).max() else { return now.boot }
        let isAsked = record.notBefore.map { $0 > now.wall } ?? false
        let usual = source.pace.longestDelay(record.health)
        return now.boot(at: stored, most: isAsked ? max(usual, Pace.longestRetryAfter) : usual)
    }
}

extension Source {
    /// The same request, read in the same way: a poll under way is still what the user wants.
    func asks(like other: Source) -> Bool {
        identity == other.identity && kind.fingerprints == other.kind.fingerprints && server.asks(like: other.server)
    }
}

extension Server {
    func asks(like other: Server) -> Bool {
        credentials?.user == other.credentials?.user && credentials?.password.value == other.credentials?.password.value
            && tls == other.tls && userAgent == other.userAgent
            && headers.map(\.name) == other.headers.map(\.name) && headers.map(\.value) == other.headers.map(\.value)
    }

    var secrets: [Secret] {
        headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
            + (credentials.map { [$0.password] } ?? [])
    }
}
