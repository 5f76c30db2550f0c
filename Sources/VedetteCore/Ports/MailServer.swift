// SPDX-License-Identifier: Apache-2.0

/// The address of a mail server: `smtp://host:port` or `smtps://host:port`.
public struct MailServer: Sendable, Hashable {
    /// Whether the connection uses TLS from the first byte (RFC 8314).
    public let isTLS: Bool
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    public let host: String
    /// The port, written or implied by the scheme.
    public let port: Int

    /// Nil unless the text is such a URL with nothing but scheme, host and port. The default port is 587 (RFC 6409), with
    /// `smtps` 465.
    public init?(_ url: String) {
        let lower = url.lowercased()
        guard let scheme = ["smtp://", "smtps://"].first(where: lower.hasPrefix) else { return nil }
        var rest = lower.dropFirst(scheme.count)
        if rest.last == "/" { rest.removeLast() }
        let bracket = rest.first == "[" ? rest.firstIndex(of: "]") : nil
        let name = bracket.map { rest[...$0] } ?? rest.prefix { $0 != ":" }
        let tail = rest.dropFirst(name.count)
        let isHost = name.first == "[" ? MailServer.isAddress(name) : MailServer.isName(name)
        guard isHost, tail.isEmpty || tail.first == ":" else { return nil }
        isTLS = scheme == "smtps://"
        host = String(name)
        let digits = tail.dropFirst()
        guard !tail.isEmpty else {
            port = isTLS ? 465 : 587
            return
        }
        guard digits.utf8.count <= 5, digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits),
            (1...65_535).contains(number)
        else { return nil }
        port = number
    }

    /// `smtp://mail.example.com:587`
    public var origin: String { "\(isTLS ? "smtps" : "smtp")://\(host):\(port)" }

    /// Whether the host is a loopback address or `localhost`.
    public var isLoopback: Bool { WebURL.isLoopback(host.filter { !"[]".contains($0) }) }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 253 && text.first != "."
            && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 46 }
    }

    private static func isAddress(_ text: Substring) -> Bool {
        let inside = text.dropFirst().dropLast().utf8
        return inside.count >= 2 && text.last == "]" && inside.contains(58)
            && inside.allSatisfy { (48...58).contains($0) || (97...102).contains($0) || $0 == 46 }
    }
}
