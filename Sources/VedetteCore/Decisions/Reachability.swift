// SPDX-License-Identifier: Apache-2.0

/// Whether this machine can reach anything at all. When it cannot, every source would fail at once, and saying so of
/// each would be a storm of wrong news: the machine is offline, which is said once.
///
/// Offline means: since the last answer of anybody, three origins (or both, where there are two) that had answered
/// before went silent. A host that has long been dead is no witness. With one origin nobody can tell a dead server from
/// a dead network, so nothing is concluded. Machines on loopback and files say nothing about the network.
public struct Reachability: Sendable {
    /// So many origins that fall silent, one after the other, are no coincidence.
    static let witnesses = 3

    public private(set) var isOffline: Bool
    /// Of every origin beyond this machine: whether its last attempt met silence. Nil before the first.
    private var isSilent: [String: Bool?] = [:]
    /// Origins that fell silent since the last answer.
    private var fallen = Set<String>()

    public init(isOffline: Bool = false) { self.isOffline = isOffline }

    /// No answer of any kind: a status, a bad certificate or a login page would prove that there is a network.
    public static func isSilence(_ failure: Failure) -> Bool {
        switch failure {
        case .resolve, .refused, .timeout, .closed, .network: true
        default: false
        }
    }

    /// The origins that are watched now.
    /// - Parameter silent: those whose last attempt is known to have met silence.
    public mutating func watch(_ origins: Set<String>, silent: Set<String> = []) {
        let counted = origins.filter(Reachability.isBeyondUs)
        isSilent = Dictionary(
            uniqueKeysWithValues: counted.map { origin in
                (origin, isSilent[origin] ?? (silent.contains(origin) ? true : nil))
            })
        fallen.formIntersection(counted)
        if counted.count < 2 { isOffline = false }
    }

    public mutating func answered(_ origin: String) {
        guard isSilent.keys.contains(origin) else { return }
        isSilent[origin] = .some(false)
        fallen = []
        isOffline = false
    }

    public mutating func fellSilent(_ origin: String) {
        guard let last = isSilent[origin], !isOffline else { return }
        // One that was silent already tells nothing new.
        if last != true { fallen.insert(origin) }
        isSilent[origin] = .some(true)
        isOffline = fallen.count >= max(2, min(Reachability.witnesses, isSilent.count))
    }

    /// False for loopback names and addresses (RFC 6761 §6.3, RFC 6890) and for what is no web address.
    static func isBeyondUs(_ origin: String) -> Bool {
        guard let url = WebURL(origin) else { return false }
        var host = url.authority[...]
        if host.hasPrefix("[") { return !host.hasPrefix("[::1]") }
        if let colon = host.lastIndex(of: ":") { host = host[..<colon] }
        while host.hasSuffix(".") { host.removeLast() }
        let isAddress = host.split(separator: ".").count == 4 && host.allSatisfy { $0 == "." || $0.isNumber }
        return host != "localhost" && !host.hasSuffix(".localhost") && !(isAddress && host.hasPrefix("127."))
    }
}
