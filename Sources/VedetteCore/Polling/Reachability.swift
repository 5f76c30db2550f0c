// SPDX-License-Identifier: Apache-2.0

/// Whether this machine can reach anything at all. When it cannot, every source would fail at once, and saying so of
/// each would be a storm of wrong news: the machine is offline, which is said once.
///
/// Offline means: every witness is silent, and there are two of them at least. A witness is a host that answered before
/// and was not already silent when somebody else answered after it; one that has long been dead is none, nor is one that
/// never answered. With one witness nobody can tell a dead server from a dead network, so nothing is concluded. Ports do
/// not count apart, for one machine has many. Machines on loopback and files say nothing about the network.
public struct Reachability: Sendable {
    public private(set) var isOffline: Bool
    /// Every host beyond this machine that is watched.
    private var hosts = Set<String>()
    /// Those whose last attempt met silence.
    private var silent = Set<String>()
    private var referenceHosts = Set<String>()

    public init(isOffline: Bool = false) { self.isOffline = isOffline }

    /// No answer of any kind: a status, a bad certificate, a login page or a refused connection would prove that there is
    /// a network.
    public static func isSilence(_ failure: Failure) -> Bool {
        switch failure {
        case .resolve, .timeout, .closed, .network: true
        default: false
        }
    }

    /// The origins that are watched now. What was heard of them since stands.
    /// - Parameters:
    ///   - answered: those that are known to have answered at their last attempt.
    ///   - silent: those that are known to be failing, and by silence.
    public mutating func watch(_ origins: Set<String>, answered: Set<String> = [], silent: Set<String> = []) {
        let known = hosts
        hosts = Set(origins.compactMap(Reachability.host))
        let answered = Set(answered.compactMap(Reachability.host)).intersection(hosts).subtracting(known)
        let failing = Set(silent.compactMap(Reachability.host)).intersection(hosts).subtracting(known)
        referenceHosts = referenceHosts.intersection(hosts).union(answered)
        // Where one port is dead and another answers, the machine is there.
        self.silent = self.silent.intersection(hosts).union(failing.subtracting(answered))
        if hosts.count < 2 { isOffline = false }
    }

    public mutating func answered(_ origin: String) {
        guard let host = Reachability.host(origin), hosts.contains(host) else { return }
        silent.remove(host)
        // The first answer after an outage says nothing against those that are still to be asked.
        if !isOffline { referenceHosts.subtract(silent) }
        referenceHosts.insert(host)
        isOffline = false
    }

    /// - Returns: true when the other witnesses should be asked soon, for the silence of two may be that of all.
    @discardableResult
    public mutating func fellSilent(_ origin: String) -> Bool {
        guard let host = Reachability.host(origin), hosts.contains(host) else { return false }
        let isNew = silent.insert(host).inserted && referenceHosts.contains(host)
        let left = referenceHosts.subtracting(silent)
        if referenceHosts.count >= 2, left.isEmpty { isOffline = true }
        return isNew && !left.isEmpty && referenceHosts.count - left.count == 2
    }

    /// Whether its answer would say that there is a network.
    public func isAwaited(_ origin: String) -> Bool {
        Reachability.host(origin).map { referenceHosts.contains($0) && !silent.contains($0) } ?? false
    }

    /// Without its port. Nil for loopback names and addresses (RFC 6761 §6.3, RFC 6890) and for what is no web address.
    static func host(_ origin: String) -> String? {
        guard var host = WebURL(origin)?.host else { return nil }
        while host.hasSuffix(".") { host.removeLast() }
        let isOurs =
            ["localhost", "::1"].contains(host) || host.hasSuffix(".localhost")
            || host.hasPrefix("127.") && isAddress(host)
        return isOurs ? nil : host
    }

    private static func isAddress(_ host: String) -> Bool {
        host.split(separator: ".").count == 4
            && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
