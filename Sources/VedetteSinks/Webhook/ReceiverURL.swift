// SPDX-License-Identifier: Apache-2.0

/// Checks the URL of a receiver.
enum ReceiverURL {
    /// Returns what is wrong with the URL of a receiver, without quoting it (it may be a secret); nil when it is valid.
    static func problem(_ url: String) -> String? {
        let lower = url.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else {
            return "must begin with https:// or http://"
        }
        guard url.utf8.allSatisfy({ (33...126).contains($0) }) else {
            return "holds a space, a line break or a character outside ASCII; percent-encode it"
        }
        let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        if authority.contains("@") { return "holds a user; write `user` and `password` beside it" }
        return authority.isEmpty || authority.hasPrefix(":") ? "names no host" : nil
    }
}
