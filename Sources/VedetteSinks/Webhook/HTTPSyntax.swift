// SPDX-License-Identifier: Apache-2.0

/// Checks the parts of a request. libcurl sends a line break in a header as it is, so it must not get one.
enum HTTPSyntax {
    /// RFC 9110 §5.6.2.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isAlphanumeric($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// RFC 9110 §5.5: no control character but the tab.
    static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 9 || $0 >= 32 && $0 != 127 }
    }

    /// Returns what is wrong with the URL of a receiver, without quoting it (it may be a secret); nil when it is valid.
    static func problem(inURL url: String) -> String? {
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

    /// Letters, digits, `-` and `_` of ASCII.
    static func isWord(_ text: String) -> Bool {
        text.utf8.allSatisfy { isAlphanumeric($0) || $0 == 45 || $0 == 95 }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }
}
