// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// How long logins that a server refused are not repeated: servers lock accounts. Another password is another key and is sent
/// at once. A server that asks for a pause (Retry-After) gets it. Times are milliseconds of a clock that never jumps.
struct LoginPauses<Key: Hashable> {
    /// Milliseconds after the first refusal; doubled by each further one.
    static var first: Int64 { 5 * 60_000 }
    static var longest: Int64 { 60 * 60_000 }
    private static var maximumPauses: Int { 1024 }

    private struct Pause {
        var until: Int64
        /// Of the pause after the last refusal.
        var length: Int64
        /// What asked for a pause; nil for a refusal.
        var error: FetchError?
    }

    private var pauses: [Key: Pause] = [:]

    /// Throws while the login is not repeated.
    func check(_ key: Key, now: Int64) throws(FetchError) {
        guard let pause = pauses[key], now < pause.until else { return }
        if var error = pause.error {
            error.retryAfter = .milliseconds(pause.until - now)
            throw error
        }
        throw FetchError(
            .unauthorized,
            "the login was refused; it is tried again \(pause.length / 60_000) minutes after that, or with another password"
        )
    }

    mutating func begin(_ key: Key, now: Int64) {
        let length = min(max(pauses[key].map { $0.length * 2 } ?? 0, Self.first), Self.longest)
        keep(Pause(until: now + length, length: length), of: key, now: now)
    }

    /// Begins the pause that a server asked for; nothing where it asked for none, or where a refusal takes longer.
    mutating func begin(_ key: Key, after error: FetchError, now: Int64) {
        guard let wait = error.retryAfter.map({ PollInterval.clamped(retryAfter: $0) }) else { return }
        let until = now + wait.wholeMilliseconds
        if let pause = pauses[key], pause.until >= until { return }
        keep(Pause(until: until, length: pauses[key]?.length ?? 0, error: error), of: key, now: now)
    }

    private mutating func keep(_ pause: Pause, of key: Key, now: Int64) {
        if pauses.count >= Self.maximumPauses { pauses = pauses.filter { $0.value.until > now } }
        if pauses.count >= Self.maximumPauses { pauses = [:] }
        pauses[key] = pause
    }

    mutating func end(_ key: Key) { pauses[key] = nil }
}

extension Failure {
    /// The failure that the status of a response to a login means. One of 4xx counts as a refusal, also 400 and 422, since
    /// servers answer a wrong password so; not one about the address, the method or the time of the request.
    init(login status: Int) {
        switch status {
        case 404, 405, 406, 408, 410, 411, 413, 414, 415, 421, 425, 426, 429, 431:
            self = Failure(status: status) ?? .protocol
        case 400...499: self = .unauthorized
        default: self = Failure(status: status) ?? .protocol
        }
    }
}

extension Response {
    /// How long the server wants no other request (Retry-After).
    var retryAfter: Duration? {
        headers.retryAfter(at: Timestamp(milliseconds: KernelClock.wall.milliseconds))
    }
}
