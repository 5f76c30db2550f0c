// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// The cookies of sessions: in memory, and in the cookie store where `CookiePolicy.journal` asks for it. The loop's thread
/// alone uses them.
final class SessionCookies {
    private let store: (any CookieStore)?
    private var jars: [String: CookieJar] = [:]
    private var expiry = SessionExpiry()
    /// Loads of stored cookies: once a task has ended, `jars` has them.
    private var loads: [String: Task<Void, Never>] = [:]
    private var writes: [String: Task<Void, Never>] = [:]

    init(_ store: (any CookieStore)?) { self.store = store }

    /// Records that a session is used, and removes the cookies of sessions that were not used for long. A jar that is being
    /// written stays until a later call.
    func markUsed(_ session: String, now: Int64 = KernelClock.monotonic.milliseconds) {
        for expired in expiry.markUsed(session, now: now) where writes[expired] == nil {
            (jars[expired], loads[expired]) = (nil, nil)
        }
    }

    /// Loads the stored cookies of a session before its first request.
    func load(of session: String, by client: isolated HTTPClient) async {
        guard let store else { return }
        if loads[session] == nil {
            loads[session] = Task {
                _ = client
                guard let bytes = await store.cookies(of: session) else { return }
                // A jar that a response has filled meanwhile is newer, and stays.
                if jars[session] == nil { jars[session] = CookieJar(json: bytes) }
            }
        }
        await loads[session]?.value
    }

    /// Adds the cookies of a response to the session's jar, and stores the jar if its policy asks for it.
    func add(_ headers: ResponseHeaders, from hop: RedirectHop, by client: isolated HTTPClient) {
        guard let session = hop.session else { return }
        jars[session, default: CookieJar()].store(headers, from: hop.url, now: now)
        guard hop.request.cookies == .journal, store != nil, jars[session]?.isChanged == true else { return }
        if writes[session] == nil { writes[session] = Task { await write(session, by: client) } }
    }

    func isEmpty(_ session: String) -> Bool { jars[session]?.isEmpty ?? true }

    /// Returns the value of the Cookie header for a hop.
    func header(for hop: RedirectHop) -> String? {
        hop.session.flatMap { jars[$0]?.header(for: hop.url, now: now) }
    }

    /// Returns the values of the cookies that a hop sends.
    func values(for hop: RedirectHop) -> [Secret] {
        (header(for: hop) ?? "").split(separator: ";").compactMap { pair in
            pair.firstIndex(of: "=").map { Secret(String(pair[pair.index(after: $0)...])) }
        }
    }

    private var now: Timestamp { Timestamp(milliseconds: KernelClock.wall.milliseconds) }

    /// Writes one jar after another, so that an older one never replaces a newer one.
    private func write(_ session: String, by client: isolated HTTPClient) async {
        while let jar = jars[session], jar.isChanged {
            jars[session]?.isChanged = false
            await store?.keep(jar.json.bytes, of: session)
        }
        writes[session] = nil
    }

    /// Returns when no jar is being written.
    func finishWrites(by client: isolated HTTPClient) async {
        while let write = writes.values.first { await write.value }
    }
}
