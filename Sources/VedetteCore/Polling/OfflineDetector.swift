// SPDX-License-Identifier: Apache-2.0

/// Decides whether this machine can reach anything at all. When it cannot, every source fails at once: instead of a
/// failure per source, the machine is offline, which is announced once.
///
/// It is offline when every reference host is silent, and there are at least two. A reference host answered before, and was
/// not already silent when another host answered after it; so a host that has long been down, or never answered, is none.
/// With one reference host a dead server cannot be told from a dead network. All ports of a host count as one. Loopback
/// addresses and files tell nothing about the network.
public struct OfflineDetector: Sendable {
    public private(set) var isOffline: Bool
    /// Every host beyond this machine that is watched.
    private var hosts = Set<String>()
    /// The host of each origin that is watched, so that no answer parses a URL; nil for one that tells nothing.
    private var hostByOrigin: [String: String?] = [:]
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

    /// Takes the origins that are watched now. Known results of hosts that stay are kept.
    /// - Parameters:
    ///   - answered: those that are known to have answered at their last attempt.
    ///   - silent: those that are known to be failing, and by silence.
    public mutating func watch(_ origins: Set<String>, answered: Set<String> = [], silent: Set<String> = []) {
        let known = hosts
        hostByOrigin = Dictionary(uniqueKeysWithValues: origins.map { ($0, OfflineDetector.host($0)) })
        hosts = Set(hostByOrigin.values.compactMap { $0 })
        let answered = Set(answered.compactMap(OfflineDetector.host)).intersection(hosts).subtracting(known)
        let failing = Set(silent.compactMap(OfflineDetector.host)).intersection(hosts).subtracting(known)
        referenceHosts = referenceHosts.intersection(hosts).union(answered)
        // Where one port is dead and another answers, the machine is there.
        self.silent = self.silent.intersection(hosts).union(failing.subtracting(answered))
        if hosts.count < 2 { isOffline = false }
    }

    public mutating func answered(_ origin: String) {
        guard let host = watchedHost(origin) else { return }
        // Most answers change nothing.
        if !isOffline, silent.isEmpty, referenceHosts.contains(host) { return }
        silent.remove(host)
        // The first answer after an outage says nothing against those that are still to be asked.
        if !isOffline { referenceHosts.subtract(silent) }
        referenceHosts.insert(host)
        isOffline = false
    }

    /// - Returns: true when the other reference hosts should be polled soon, since two silent ones may mean all.
    @discardableResult
    public mutating func fellSilent(_ origin: String) -> Bool {
        guard let host = watchedHost(origin) else { return false }
        let isNew = silent.insert(host).inserted && referenceHosts.contains(host)
        let left = referenceHosts.subtracting(silent)
        if referenceHosts.count >= 2, left.isEmpty { isOffline = true }
        return isNew && !left.isEmpty && referenceHosts.count - left.count == 2
    }

    /// Whether its answer would say that there is a network.
    public func isAwaited(_ origin: String) -> Bool {
        watchedHost(origin).map { referenceHosts.contains($0) && !silent.contains($0) } ?? false
    }

    /// Returns the host of an origin; nil when it is not watched, or tells nothing about the network.
    private func watchedHost(_ origin: String) -> String? {
        if let known = hostByOrigin[origin] { return known }
        return OfflineDetector.host(origin).flatMap { hosts.contains($0) ? $0 : nil }
    }

    /// Without its port. Nil for loopback names and addresses (RFC 6761 §6.3, RFC 6890) and for what is no web address.
    static func host(_ origin: String) -> String? {
        guard let url = WebURL(origin), !url.isLoopback else { return nil }
        var host = url.host
        while host.hasSuffix(".") { host.removeLast() }
        return host
    }
}
