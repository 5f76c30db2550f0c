// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Cookies of sessions: in memory, and where `CookiePolicy.journal` asks for it in a store.
extension HTTPClient {
    /// What is being written is forgotten another time.
    func use(_ session: String, now: Int64) {
        for old in sessions.used(session, now: now) where writers[old] == nil {
            (jars[old], kept[old]) = (nil, nil)
        }
    }

    /// The session's cookies of earlier runs, before its first request.
    func takeUp(_ session: String) async {
        guard let cookieStore else { return }
        if kept[session] == nil {
            kept[session] = Task {
                guard let bytes = await cookieStore.cookies(of: session) else { return }
                restore(CookieJar(json: bytes), to: session)
            }
        }
        await kept[session]?.value
    }

    /// What a response set meanwhile is newer.
    private func restore(_ jar: CookieJar, to session: String) {
        if jars[session] == nil { jars[session] = jar }
    }

    func store(_ headers: ResponseHeaders, from hop: RedirectHop, in session: String) {
        jars[session, default: CookieJar()].store(headers, from: hop.url, now: SystemTime.wall())
        guard hop.request.cookies == .journal, cookieStore != nil, jars[session]?.isChanged == true else { return }
        if writers[session] == nil { writers[session] = Task { await write(session) } }
    }

    /// One after another, so that an older jar never replaces a newer one.
    private func write(_ session: String) async {
        while let jar = jars[session], jar.isChanged {
            jars[session]?.isChanged = false
            await cookieStore?.keep(jar.json.bytes, of: session)
        }
        writers[session] = nil
    }

    func finishWriting() async {
        while let writer = writers.values.first { await writer.value }
    }
}
