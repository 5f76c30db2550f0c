// SPDX-License-Identifier: Apache-2.0

/// An absolute http or https URL with its parts.
public struct WebURL: Sendable, Hashable {
    /// The URL as it was written.
    public let text: String
    /// `http` or `https`.
    public let scheme: String
    /// `host` or `host:port`, in lower case.
    public let authority: String
    /// The path as it was written; empty when there is none.
    public let path: String
    /// The query without its `?`; nil when there is none.
    public let query: String?

    /// Nil unless the text is an absolute http or https URL with a host and without `user:password@`.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard !bytes.contains(where: { $0 <= 32 || $0 == 127 }),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let scheme = text[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = bytes[bytes.index(colon, offsetBy: 3)...].prefix { $0 != UInt8(ascii: "#") }
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let host = rest[..<end]
        guard let first = host.first, first != UInt8(ascii: ":"), !host.contains(UInt8(ascii: "@")) else { return nil }
        let tail = rest[end...]
        let question = tail.firstIndex(of: UInt8(ascii: "?"))
        self.text = text
        (self.scheme, authority) = (scheme, text[host.startIndex..<end].lowercased())
        path = String(text[end..<(question ?? tail.endIndex)])
        query = question.map { String(text[bytes.index(after: $0)..<tail.endIndex]) }
    }

    /// Scheme, host and port, with the port always written (RFC 6454). A credential belongs to one origin.
    public var origin: String {
        let host = authority.hasSuffix(":") ? authority.dropLast() : authority[...]
        let hasPort = host.last != "]" && host.contains(":")
        return "\(scheme)://\(host)" + (hasPort ? "" : scheme == "https" ? ":443" : ":80")
    }

    /// The host and the port, with the port always written; an IPv6 address in its brackets.
    public var hostAndPort: String { String(origin.dropFirst(scheme.utf8.count + 3)) }

    /// The host without port and brackets.
    public var host: String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    /// Whether the host is this machine by its name or address (RFC 6761 §6.3, RFC 6890).
    public var isLoopback: Bool { WebURL.isLoopback(host) }

    /// Whether a host without port and brackets is this machine by its name or address.
    public static func isLoopback(_ host: String) -> Bool {
        var host = host[...]
        while host.last == "." { host.removeLast() }
        if host == "localhost" || host == "::1" || host.hasSuffix(".localhost") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The port that is written or implied by the scheme; nil for one that is no number.
    public var port: Int? { Int(origin[origin.index(after: origin.lastIndex(of: ":") ?? origin.startIndex)...]) }

    /// Why no connection can be made to its host and port, as the end of a sentence that quotes neither; nil when one can.
    public var authorityProblem: String? { WebURL.problem(ofAuthority: authority.utf8) }

    /// Returns why no connection can be made to a `host` or `host:port`, as the end of a sentence that does not quote it; nil
    /// when one can.
    public static func problem(ofAuthority authority: some Collection<UInt8>) -> String? {
        let isAddress = authority.first == UInt8(ascii: "[")
        let end = authority.firstIndex(of: UInt8(ascii: isAddress ? "]" : ":")) ?? authority.endIndex
        let host = authority[..<end]
        var rest = Array(authority[end...])[...]
        if isAddress {
            let address = host.dropFirst().prefix { $0 != UInt8(ascii: "%") }
            guard rest.popFirst() != nil, address.contains(UInt8(ascii: ":")), address.allSatisfy(isOfAddress) else {
                return "has no valid IPv6 address in its brackets; write it as [2001:db8::1]"
            }
        } else if let wrong = host.first(where: { "!{}[]\\$'\"^`*<>=;,+&()|".utf8.contains($0) }) {
            return "names a host with '\(Character(Unicode.Scalar(wrong)))', which no host has"
        }
        guard let colon = rest.popFirst() else { return nil }
        let port = rest.first == UInt8(ascii: "+") ? nil : UInt16(String(decoding: rest, as: UTF8.self))
        let isValid = colon == UInt8(ascii: ":") && (rest.isEmpty || port != nil)
        return isValid ? nil : "has a port that is no number up to 65535"
    }

    /// Hexadecimal digits, `:` and `.`.
    private static func isOfAddress(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || Character(Unicode.Scalar(byte)).isHexDigit
    }

    /// Returns the URL with query parameters set: a parameter of the same name is replaced in place.
    public func setting(_ parameters: [(name: String, value: String)]) -> String {
        var pairs = (query ?? "").split(separator: "&").map(String.init)
        for (name, value) in parameters {
            let pair = "\(WebURL.encoded(name))=\(WebURL.encoded(value))"
            let prefix = WebURL.encoded(name) + "="
            if let at = pairs.firstIndex(where: { $0.hasPrefix(prefix) }) {
                pairs[at] = pair
            } else {
                pairs.append(pair)
            }
        }
        let base = "\(scheme)://\(authority)\(path.isEmpty ? "/" : path)"
        return pairs.isEmpty ? base : base + "?" + pairs.joined(separator: "&")
    }

    /// Percent-encodes a text, except the unreserved characters of RFC 3986 §2.3.
    public static func encoded(_ text: String) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var out = ""
        for byte in text.utf8 {
            if isUnreserved(byte) {
                out.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                out += encoded(byte)
            }
        }
        return out
    }

    /// Returns the byte as `%XX`.
    public static func encoded(_ byte: UInt8) -> String {
        "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Bytes of a base that a link takes over, at most: a document has many links, and each would copy a long base.
    public static let longestBase = 2 << 10

    /// Returns the base that a document sets for its links, below the one that holds so far. One that is no address, or
    /// that links could not take over, is ignored.
    public static func base(_ reference: String, below base: WebURL?) -> WebURL? {
        let next = if let base { base.resolving(reference, copying: longestBase) } else { WebURL(reference) }
        guard let next, next.rootBytes + next.path.utf8.count <= longestBase else { return base }
        return next
    }

    /// Bytes of scheme and authority.
    private var rootBytes: Int { scheme.utf8.count + 3 + authority.utf8.count }

    /// Resolves a reference against this URL (RFC 3986 §5.2); nil when the result is not http or https.
    ///
    /// - Parameter most: bytes of this URL that the result may hold; nil where it would hold more. The query counts
    ///   only where the reference is to a place in this very document.
    public func resolving(_ reference: String, copying most: Int = .max) -> WebURL? {
        let reference = reference.trimmed()
        if WebURL.hasScheme(reference) { return WebURL(reference) }
        if reference.hasPrefix("//") { return WebURL("\(scheme):\(reference)") }
        let isHere = reference.isEmpty || reference.hasPrefix("#")
        let pathBytes = reference.hasPrefix("/") ? 0 : path.utf8.count
        guard (isHere ? text.utf8.count : rootBytes + pathBytes) <= most else { return nil }
        if isHere { return WebURL(text.prefix { $0 != "#" } + reference) }
        let root = "\(scheme)://\(authority)"
        if reference.hasPrefix("?") { return WebURL(root + (path.isEmpty ? "/" : path) + reference) }
        let split = reference.firstIndex { "?#".contains($0) } ?? reference.endIndex
        let (name, tail) = (String(reference[..<split]), String(reference[split...]))
        let merged =
            name.hasPrefix("/") ? name : String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) + "/" + name
        return WebURL(root + WebURL.withoutDots(merged) + tail)
    }

    private static func hasScheme(_ reference: String) -> Bool {
        guard let colon = reference.firstIndex(of: ":"), let first = reference.first, first.isASCII, first.isLetter
        else { return false }
        return reference[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    /// Removes `.` and `..` segments (RFC 3986 §5.2.4).
    private static func withoutDots(_ path: String) -> String {
        var out: [Substring] = []
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        for (i, part) in parts.enumerated() {
            let isLast = i == parts.count - 1
            switch part {
            case ".": if isLast { out.append("") }
            case "..":
                if out.count > 1 { out.removeLast() }
                if isLast { out.append("") }
            default: out.append(part)
            }
        }
        return out.joined(separator: "/")
    }
}
