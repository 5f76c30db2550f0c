// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// The cookies of sessions: in memory, and in the cookie store where `CookiePolicy.journal` asks for it.
extension HTTPClient {
    /// Records that a session is used, and removes the cookies of sessions that were not used for long. A jar that is being
    /// written stays until a later call.
    func markUsed(_ session: String, now: Int64) {
        for expired in sessions.markUsed(session, now: now) where cookieWrites[expired] == nil {
            (jars[expired], cookieLoads[expired]) = (nil, nil)
        }
    }

    /// Loads the stored cookies of a session before its first request.
    func loadCookies(of session: String) async {
        guard let cookieStore else { return }
        if cookieLoads[session] == nil {
            cookieLoads[session] = Task {
                guard let bytes = await cookieStore.cookies(of: session) else { return }
                restore(CookieJar(json: bytes), to: session)
            }
        }
        await cookieLoads[session]?.value
    }

    /// A jar that a response has filled meanwhile is newer, and stays.
    private func restore(_ jar: CookieJar, to session: String) {
        if jars[session] == nil { jars[session] = jar }
    }

    /// Adds the cookies of a response to the session's jar, and stores the jar if its policy asks for it.
    func store(_ headers: ResponseHeaders, from hop: RedirectHop, in session: String) {
        jars[session, default: CookieJar()].store(
            headers, from: hop.url, now: Timestamp(milliseconds: KernelClock.wall.milliseconds))
        guard hop.request.cookies == .journal, cookieStore != nil, jars[session]?.isChanged == true else { return }
        if cookieWrites[session] == nil { cookieWrites[session] = Task { await write(session) } }
    }

    /// Returns the values of the cookies that a hop sends.
    func cookieValues(of hop: RedirectHop) -> [Secret] {
        guard let session = hop.session,
            let header = jars[session]?.header(
                for: hop.url, now: Timestamp(milliseconds: KernelClock.wall.milliseconds))
        else { return [] }
        return header.split(separator: ";").compactMap { pair in
            pair.firstIndex(of: "=").map { Secret(String(pair[pair.index(after: $0)...])) }
        }
    }

    /// Writes one jar after another, so that an older one never replaces a newer one.
    private func write(_ session: String) async {
        while let jar = jars[session], jar.isChanged {
            jars[session]?.isChanged = false
            await cookieStore?.keep(jar.json.bytes, of: session)
        }
        cookieWrites[session] = nil
    }

    /// Returns when no jar is being written.
    func finishCookieWrites() async {
        while let write = cookieWrites.values.first { await write.value }
    }
}
