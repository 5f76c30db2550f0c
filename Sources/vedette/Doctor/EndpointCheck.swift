// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What knocking at each contact says. Pure.
struct EndpointCheck {
    /// Lines of one verdict; what is more is counted.
    static let most = 20
    /// A certificate that ends sooner is told: what renews it has failed by then.
    static let fewDays = 14

    let knocks: [(contact: Endpoint, knock: ConnectResult)]
    let now: Timestamp
    /// `http_proxy` or `all_proxy` is set: what cannot be reached from here may be reached through it.
    let hasProxy: Bool

    var findings: [Finding] {
        let tried = knocks.filter { $0.knock != .notTried }
        let all = tried.map { finding($0.contact, $0.knock) }
        var findings: [Finding] = []
        for verdict in Finding.Verdict.allCases {
            let some = all.filter { $0.verdict == verdict }
            if verdict == .ok, some.count > EndpointCheck.most {
                findings.append(
                    .ok("network", "\(some.count) of \(counted(knocks.count, "address", "addresses")) answer"))
            } else {
                findings += some.bounded(to: EndpointCheck.most, "network", remedy: "mend these first, and ask again")
            }
        }
        let untried = knocks.count - tried.count
        if untried > 0 {
            findings.append(
                .warning("network", "there was no time to try \(counted(untried, "address", "addresses")) more"))
        }
        return findings
    }

    private func finding(_ contact: Endpoint, _ knock: ConnectResult) -> Finding {
        let (subject, place) = (contact.subject, contact.place)
        switch knock {
        case .unknownName(let words):
            return unreached(contact, "the name in \(place) leads nowhere (\(words))", "check its spelling and DNS")
        case .refused(let words):
            return unreached(contact, "\(place) does not answer (\(words))", "check host, port and firewall")
        case .late:
            return unreached(
                contact, "\(place) does not answer within \(EndpointProbe.patience.components.seconds) s",
                "check host, port and firewall")
        case .noHandshake(let words):
            return .failure(subject, words, remedy: "check the port, and that it speaks TLS")
        case .open:
            let unseen = contact.kind == .other ? "; its certificate was not looked at" : ""
            return .ok(subject, "\(place) answers" + among(contact) + unseen)
        case .shown(let shown): return certificate(contact, shown)
        case .notTried: return .warning(subject, "\(place) was not tried")
        }
    }

    private func among(_ contact: Endpoint) -> String {
        contact.sources > 1 ? " (\(contact.sources) sources)" : ""
    }

    private func unreached(_ contact: Endpoint, _ text: String, _ remedy: String) -> Finding {
        switch contact.proxy {
        case .url:
            return .warning(
                contact.subject, text + among(contact),
                remedy: "nothing is wrong if its proxy reaches it, which was not tried")
        case .environment where contact.kind == .http && hasProxy:
            return .warning(
                contact.subject, text + among(contact),
                remedy: "nothing is wrong if $http_proxy reaches it, which was not tried")
        case .environment, .none: return .failure(contact.subject, text + among(contact), remedy: remedy)
        }
    }

    private func certificate(_ contact: Endpoint, _ own: ConnectResult.Shown) -> Finding {
        let (subject, place, policy) = (contact.subject, contact.place, contact.tls)
        let trust = "`vedette trust \(contact.trust ?? place)` shows its certificate"
        let days = Int((own.validUntil.seconds(since: now) / 86_400).rounded(.down))
        let end = "\(place) answers\(among(contact)); its certificate "
        if let pin = policy.pin {
            guard pin.split(separator: ";").contains(where: { $0 == own.pin }) else {
                return .failure(subject, "\(place) shows another key than the one that is pinned", remedy: trust)
            }
            return .ok(subject, end + "has the pinned key")
        }
        if policy.insecure {
            return .warning(subject, end + "is not checked (insecure)", remedy: "pin its key: " + trust)
        }
        guard own.doubts.isEmpty else {
            return .failure(
                subject, "the certificate of \(place) is not good: \(own.doubts.joined(separator: "; "))",
                remedy: trust)
        }
        guard days >= EndpointCheck.fewDays else {
            return .warning(subject, end + "ends in \(counted(days, "day"))", remedy: "have it renewed")
        }
        return .ok(subject, end + "is good for \(days) days")
    }
}

/// `1 address`, `2 addresses`.
private func counted(_ number: Int, _ one: String, _ many: String) -> String { "\(number) \(number == 1 ? one : many)" }
