// SPDX-License-Identifier: Apache-2.0

/// What the requests of a session showed about its login: servers lock accounts, so a login that was refused is not repeated for a
/// while. An address that is refused right after a login says nothing about the login where others are answered: the user may not
/// read it. Times are milliseconds of a clock that never jumps.
struct LoginRefusals {
    /// A refusal holds for this long.
    static let pause: Int64 = 5 * 60_000
    /// Addresses that are remembered at most.
    private static let maximumAddresses = 1000
    /// Addresses that may be refused right after a login at a time, before others that were never answered lead to none. An address
    /// that needs no login is answered whatever the password, so that answers alone prove nothing.
    private static let maximumRefused = 3

    private struct Refusal {
        var at: Int64
        /// The digest of what was sent: another password is sent at once.
        var fields: UInt64

        func holds(_ fields: UInt64, now: Int64) -> Bool { fields == self.fields && now - at < LoginRefusals.pause }
    }

    /// Of the login itself.
    private var login: Refusal?
    /// Of an address right after a login, while no other address shows that the login is good.
    private var session: Refusal?
    private var addresses: [String: Refusal] = [:]
    /// Addresses that were answered since they were last refused.
    private var answered = Set<String>()

    /// Whether the login is not made now, whatever asks for it.
    func forbidsLogin(_ fields: UInt64, now: Int64) -> Bool {
        [login, session].contains { $0?.holds(fields, now: now) ?? false }
    }

    /// Whether no login is made now for an address that asks for one.
    func forbidsLogin(for address: String, _ fields: UInt64, now: Int64) -> Bool {
        if forbidsLogin(fields, now: now) || addresses[address]?.holds(fields, now: now) ?? false { return true }
        guard !answered.contains(address) else { return false }
        return addresses.values.count { $0.holds(fields, now: now) } >= Self.maximumRefused
    }

    mutating func loginEnded(isRefused: Bool, _ fields: UInt64, now: Int64) {
        login = isRefused ? Refusal(at: now, fields: fields) : nil
    }

    /// An address was answered: the login is good.
    mutating func noteAnswer(of address: String) {
        if answered.count >= Self.maximumAddresses { answered = [] }
        answered.insert(address)
        (session, addresses[address]) = (nil, nil)
    }

    /// An address was refused right after a login.
    mutating func noteRefusal(of address: String, _ fields: UInt64, now: Int64) {
        let refusal = Refusal(at: now, fields: fields)
        if addresses.count >= Self.maximumAddresses { addresses = [:] }
        addresses[address] = refusal
        // One that was answered before shows that the login is no longer good.
        guard answered.remove(address) != nil || answered.isEmpty else { return }
        (session, answered) = (refusal, [])
    }
}
