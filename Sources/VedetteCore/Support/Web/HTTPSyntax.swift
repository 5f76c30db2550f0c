// SPDX-License-Identifier: Apache-2.0

/// Checks the parts of a request. Neither libcurl nor libmicrohttpd does: a line break in a header would begin another one.
public enum HTTPSyntax {
    /// Returns whether a method is safe, so that a request may be sent again whatever became of it (RFC 9110 §9.2.1).
    public static func isSafe(_ method: String) -> Bool { method == "GET" || method == "HEAD" }

    /// Whether a text is a token, as methods and names of headers are (RFC 9110 §5.6.2).
    public static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isAlphanumeric($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// Whether a text can be the value of a header (RFC 9110 §5.5): it has no control character but the tab.
    public static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 9 || $0 >= 32 && $0 != 127 }
    }

    /// Whether a text consists of letters, digits, `-` and `_` of ASCII.
    public static func isWord(_ text: String) -> Bool {
        text.utf8.allSatisfy { isAlphanumeric($0) || $0 == 45 || $0 == 95 }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }
}
