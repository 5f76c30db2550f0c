// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

extension Request {
    /// Whether the request can be sent again as it was prepared: it has neither a body nor a secret, whose value may change.
    var isRepeatable: Bool {
        guard method == "GET", body == nil, credentials == nil, handshake == nil, login == nil, tokenLogin == nil,
            stream == nil,
            !headers.contains(where: \.isSecret)
        else { return false }
        switch proxy {
        case .environment, .none: return true
        case .url: return false
        }
    }

    /// Whether both are the same repeatable request.
    func repeats(_ other: Request) -> Bool {
        isRepeatable && other.isRepeatable && Request.isSame(url, other.url)
            && Request.isSame(validators.etag, other.validators.etag)
            && Request.isSame(validators.lastModified, other.validators.lastModified)
            && knownDigest == other.knownDigest && headers.elementsEqual(other.headers, by: Request.isSame)
            && session == other.session && lane == other.lane && group == other.group && limits == other.limits
            && tls == other.tls && usesEnvironment == other.usesEnvironment && cookies == other.cookies
            && originLimits == other.originLimits && redirects == other.redirects && reach == other.reach
            && inspectsConnection == other.inspectsConnection
    }

    private static func isSame(_ a: Header, _ b: Header) -> Bool {
        guard case .plain(let value) = a.content, case .plain(let other) = b.content else { return false }
        return isSame(a.name, b.name) && isSame(value, other) && a.isOwn == b.isOwn
    }

    /// Compares bytes: strings are also equal when they only look alike (Unicode's canonical equivalence), and a validator
    /// is sent byte for byte (RFC 9110 §8.8).
    private static func isSame(_ a: String?, _ b: String?) -> Bool {
        guard var a, var b else { return a == nil && b == nil }
        return a.withUTF8 { a in
            b.withUTF8 { b in
                guard let first = a.baseAddress, let second = b.baseAddress else { return a.count == b.count }
                return a.count == b.count && memcmp(first, second, a.count) == 0
            }
        }
    }

    private var usesEnvironment: Bool { if case .environment = proxy { true } else { false } }
}
