// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore

/// The credentials of another program's entry, without the secret: `vedette login` asks for that.
enum ImportedLogin: Hashable {
    case user(String)
    case token

    /// Splits `user:password@` off an address (RFC 3986 §3.2.1).
    /// - Returns: the address without it, and the user; nil for no user.
    static func split(_ url: String) -> (url: String, login: ImportedLogin?) {
        guard let mark = url.range(of: "://") else { return (url, nil) }
        let authority = url[mark.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return (url, nil) }
        let user = authority[..<at].prefix { $0 != ":" }
        let rest = url[..<mark.upperBound] + url[url.index(after: at)...]
        // A password without a user is no login.
        return (String(rest), user.isEmpty ? nil : .user(String(user).removingPercentEncoding ?? String(user)))
    }

    /// Returns the login that an `Authorization` header is; nil for another scheme than Basic and Bearer.
    static func of(authorization value: String) -> ImportedLogin? {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch parts[0].lowercased() {
        case "bearer": return .token
        case "basic":
            let bytes = Base64.decode(parts[1].trimmed()) ?? []
            let user = String(decoding: bytes.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
            return user.isEmpty ? nil : .user(user)
        default: return nil
        }
    }

    /// Returns an address as messages show it: without user, query and fragment, which may hold credentials.
    static func shown(_ url: String) -> String {
        String(split(url).url.prefix { !"?#".contains($0) })
    }
}
