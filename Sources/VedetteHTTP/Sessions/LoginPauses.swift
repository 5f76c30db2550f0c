// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// How long logins that a server refused are not repeated: servers lock accounts. Another password is another key and is sent
/// at once. Times are milliseconds of a clock that never jumps.
struct LoginPauses<Key: Hashable> {
    /// Milliseconds after the first refusal; doubled by each further one.
    static var first: Int64 { 5 * 60_000 }
    static var longest: Int64 { 60 * 60_000 }
    private static var maximumPauses: Int { 1024 }

    private var pauses: [Key: (until: Int64, length: Int64)] = [:]

    /// Throws while the login is not repeated.
    func check(_ key: Key, now: Int64) throws(FetchError) {
        guard let pause = pauses[key], now < pause.until else { return }
        throw FetchError(
            .unauthorized,
            "the login was refused; it is tried again \(pause.length / 60_000) minutes after that, or with another password"
        )
    }

    mutating func begin(_ key: Key, now: Int64) {
        let length = min(pauses[key].map { $0.length * 2 } ?? Self.first, Self.longest)
        if pauses.count >= Self.maximumPauses { pauses = pauses.filter { $0.value.until > now } }
        if pauses.count >= Self.maximumPauses { pauses = [:] }
        pauses[key] = (now + length, length)
    }

    mutating func end(_ key: Key) { pauses[key] = nil }
}
