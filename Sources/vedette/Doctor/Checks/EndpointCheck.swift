// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reports which endpoints can be reached, and their certificates. Pure.
struct EndpointCheck {
    /// Lines of one severity; further ones are counted.
    static let limit = 20
    /// Fewer days than this are a warning: what renews the certificate has failed by then.
    static let fewDays = 14

    let results: [(endpoint: Endpoint, result: ConnectResult)]
    let now: Timestamp
    /// Whether `http_proxy` or `all_proxy` is set, which carries plain http.
    let hasProxy: Bool

    @Findings var findings: [Finding] {
        let tried = results.filter { $0.result != .notTried }.map { finding($0.endpoint, $0.result) }
        let good = tried.filter { $0.severity == .ok }
        if good.count > Self.limit {
            .ok("network", "\(good.count) of \(addresses(results.count)) answer")
        } else {
            good
        }
        for severity in [Finding.Severity.warning, .failure] {
            tried.filter { $0.severity == severity }.bounded(
                to: Self.limit, "network", remedy: "correct these first, then run doctor again")
        }
        if tried.count < results.count {
            .warning("network", "there was no time to try \(addresses(results.count - tried.count)) more")
        }
    }

    private func addresses(_ count: Int) -> String { count == 1 ? "1 address" : "\(count) addresses" }

    private func finding(_ endpoint: Endpoint, _ result: ConnectResult) -> Finding {
        let (subject, address) = (endpoint.subject, endpoint.address)
        let users = endpoint.sources > 1 ? " (\(endpoint.sources) sources)" : ""
        let remedy = "check host, port, proxy and firewall"
        switch result {
        case .unknownName:
            return .failure(
                subject, "the name in \(address) cannot be resolved" + users, remedy: "check its spelling and DNS")
        case .refused(let detail):
            let text = detail.hasPrefix(address) ? detail : "\(address) does not answer (\(detail))"
            return .failure(subject, text + users, remedy: remedy)
        case .timeout:
            let seconds = EndpointProbe.timeout.components.seconds
            return .failure(subject, "\(address) does not answer within \(seconds) s" + users, remedy: remedy)
        case .noHandshake(let detail):
            // A mail server is tried by https, which reads nothing but its certificate.
            let detail = detail.replacing(endpoint.target.origin, with: address)
            return .failure(subject, detail, remedy: "check the port, and that it speaks TLS")
        case .connected where endpoint.kind == .other:
            return .ok(subject, "\(address) answers; its certificate was not checked")
        case .connected:
            return .ok(
                subject, (isProxied(endpoint) ? "the proxy of \(address) answers" : "\(address) answers") + users)
        case .handshake(let certificate): return finding(endpoint, certificate, users)
        case .notTried: return .warning(subject, "\(address) was not tried")
        }
    }

    private func isProxied(_ endpoint: Endpoint) -> Bool {
        switch endpoint.proxy {
        case .url: true
        case .environment: hasProxy
        case .none: false
        }
    }

    private func finding(_ endpoint: Endpoint, _ own: ConnectResult.ServerCertificate, _ users: String) -> Finding {
        let (subject, address, policy) = (endpoint.subject, endpoint.address, endpoint.tls)
        let trust = "`vedette trust \(endpoint.trust ?? address)` shows its certificate"
        let start = "\(address) answers\(users); its certificate "
        let days = Int((own.validUntil.seconds(since: now) / 86_400).rounded(.down))
        if let pin = policy.pin {
            return pin.split(separator: ";").contains { $0 == own.pin }
                ? .ok(subject, start + "has the pinned key")
                : .failure(subject, "the key of \(address) is not the pinned one", remedy: trust)
        }
        if policy.insecure {
            return .warning(subject, start + "is not checked (insecure)", remedy: "pin its key: " + trust)
        }
        if !own.problems.isEmpty {
            let problems = own.problems.joined(separator: "; ")
            return .failure(subject, "the certificate of \(address) is not valid: \(problems)", remedy: trust)
        }
        return days < Self.fewDays
            ? .warning(subject, start + "expires in \(counted(days, "day"))", remedy: "have it renewed")
            : .ok(subject, start + "is valid for \(days) days")
    }
}
