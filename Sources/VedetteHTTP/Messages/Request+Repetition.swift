// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension Request {
    /// Whether the request can be sent again as it was prepared: it has neither a body nor a secret, whose value may change.
    var isRepeatable: Bool {
        guard method == "GET", body == nil, credentials == nil, handshake == nil, login == nil, stream == nil,
            !headers.contains(where: \.isSecret)
        else { return false }
        switch proxy {
        case .environment, .none: return true
        case .url: return false
        }
    }

    /// Whether both are the same repeatable request.
    func repeats(_ other: Request) -> Bool {
        isRepeatable && other.isRepeatable && url == other.url && validators == other.validators
            && knownDigest == other.knownDigest && headers.elementsEqual(other.headers, by: Request.isSame)
            && session == other.session && lane == other.lane && group == other.group && limits == other.limits
            && tls == other.tls && usesEnvironment == other.usesEnvironment && cookies == other.cookies
            && originLimits == other.originLimits && redirects == other.redirects && reach == other.reach
            && inspectsConnection == other.inspectsConnection
    }

    private static func isSame(_ a: Header, _ b: Header) -> Bool {
        guard case .plain(let value) = a.content, case .plain(let other) = b.content else { return false }
        return a.name == b.name && value == other && a.isOwn == b.isOwn
    }

    private var usesEnvironment: Bool { if case .environment = proxy { true } else { false } }
}
