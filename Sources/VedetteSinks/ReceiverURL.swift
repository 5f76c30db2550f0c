// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Checks the URL of a receiver.
enum ReceiverURL {
    /// Returns what is wrong with the URL of a receiver, without quoting it (it may be a secret); nil when it is valid.
    static func problem(_ url: String) -> String? {
        // Of each message that a webhook sends the address is checked: by bytes, since characters take longer.
        let start = url.prefix(8).lowercased()
        guard let scheme = ["https://", "http://"].first(where: start.hasPrefix) else {
            return "must begin with https:// or http://"
        }
        guard url.utf8.allSatisfy({ (33...126).contains($0) }) else {
            return "holds a space, a line break or a character outside ASCII; percent-encode it"
        }
        let authority = url.utf8.dropFirst(scheme.utf8.count).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        if authority.contains(UInt8(ascii: "@")) { return "holds a user; write `user` and `password` beside it" }
        if authority.isEmpty || authority.first == UInt8(ascii: ":") { return "names no host" }
        return WebURL.problem(ofAuthority: authority)
    }
}
