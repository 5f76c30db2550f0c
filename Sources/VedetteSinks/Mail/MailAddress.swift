// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// An address: `ann@example.org`, or `Ann Example <ann@example.org>`.
struct MailAddress: Sendable, Hashable {
    /// May be empty.
    var name: String
    var address: String

    /// The part behind the `@`.
    var domain: String {
        String(address.suffix(from: address.index(after: address.lastIndex(of: "@") ?? address.startIndex)))
    }

    /// The address as words of a header field.
    var words: [String] { name.isEmpty ? [address] : MailText.phrase(name) + ["<\(address)>"] }

    /// - Parameter place: the option, for the error.
    init(_ text: String, _ place: String...) throws(OptionProblem) {
        func problem(_ detail: String) -> OptionProblem {
            var problem = OptionProblem(detail: detail)
            problem.path = place
            return problem
        }
        if text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
            throw problem("has a line break or control character; write one line")
        }
        let text = text.trimmed()
        if text.hasSuffix(">"), let open = text.lastIndex(of: "<") {
            address = String(text[text.index(after: open)...].dropLast())
            name = MailAddress.unquoted(text[..<open].trimmed())
        } else {
            (name, address) = ("", text)
        }
        guard address.utf8.allSatisfy({ $0 < 128 }) else {
            throw problem("has an address beyond ASCII, which few servers take; write a domain in its xn-- form")
        }
        guard MailAddress.isAddress(address), name.utf8.count <= 200 else {
            throw problem("is no mail address; write ann@example.org or 'Ann Example <ann@example.org>'")
        }
    }

    private static func unquoted(_ name: String) -> String {
        guard name.count >= 2, name.hasPrefix("\""), name.hasSuffix("\"") else { return name }
        return name.dropFirst().dropLast().replacingEscapes()
    }

    /// Accepts the forms that are in use: no quoted local part, no comments (RFC 5321 §4.1.2, §4.5.3.1).
    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count), (1...255).contains(parts[1].utf8.count),
            text.utf8.count <= 254
        else { return false }
        let atoms = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return atoms.allSatisfy {
            !$0.isEmpty && $0.utf8.allSatisfy { (33...126).contains($0) && !specials.contains($0) }
        }
            && labels.allSatisfy { !$0.isEmpty && HTTPSyntax.isWord(String($0)) }
    }

    private static let specials = Array("()<>[]:;@\\,\"".utf8)
}

extension Substring {
    /// Removes the backslashes of a quoted string (RFC 5322 §3.2.4).
    fileprivate func replacingEscapes() -> String {
        var (out, isEscaped) = ("", false)
        for character in self {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                out.append(character)
                isEscaped = false
            }
        }
        return out
    }
}
