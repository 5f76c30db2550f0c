// SPDX-License-Identifier: Apache-2.0

/// Hands mail to servers (RFC 5321). It tries nothing again.
public protocol MailCarrier: Sendable {
    /// One mail to one server, for all of its recipients or, where one of them is refused, for none.
    ///
    /// Cancelling the calling task ends it with `.cancelled`; cancelling a finished one does nothing.
    ///
    /// - Returns: the last word of the server, a refusal too.
    /// - Throws: when there was none; whether the server took the mail is then unknown.
    func send(_ mail: Mail) async throws(FetchError) -> MailReply
}

/// A mail with its envelope.
public struct Mail: Sendable {
    /// STARTTLS (RFC 3207), on a connection that begins in the clear.
    public enum Upgrade: String, Sendable, Hashable, CaseIterable {
        case required, optional, never
    }

    public struct Login: Sendable {
        public var user: String
        public var password: Secret

        public init(user: String, password: Secret) { (self.user, self.password) = (user, password) }
    }

    public var server: MailServer
    public var upgrade: Upgrade
    public var tls: TLSPolicy
    /// It goes over TLS only, unless the server is this machine.
    public var login: Login?
    /// The name that EHLO gives; nil: this machine's own.
    public var hello: String?
    /// Addresses in ASCII, without angle brackets.
    public var sender: String
    public var recipients: [String]
    /// Header and body in lines that end with CR LF. Dots are not doubled yet (RFC 5321 §4.5.2).
    public var content: [UInt8]
    /// For all of it.
    public var timeout: Duration
    /// The server has the whole mail: who gives up before makes it take the mail again (RFC 5321 §4.5.3.2.6).
    public var patience = Duration.seconds(600)
    /// Whose places are counted (at most 4 in flight each).
    public var group: String?

    public init(
        server: MailServer, upgrade: Upgrade = .required, tls: TLSPolicy = .init(), login: Login? = nil,
        hello: String? = nil, sender: String, recipients: [String], content: [UInt8],
        timeout: Duration = .seconds(60), group: String? = nil
    ) {
        (self.server, self.upgrade, self.tls, self.login) = (server, upgrade, tls, login)
        (self.hello, self.sender, self.recipients, self.content) = (hello, sender, recipients, content)
        (self.timeout, self.group) = (timeout, group)
    }
}

/// What a server said, and at which point of the dialogue.
public struct MailReply: Sendable, Hashable {
    public enum Stage: Sendable, Hashable {
        /// Until we knew each other: its greeting, EHLO, STARTTLS.
        case greeting
        case login
        case sender
        /// The recipient of that index.
        case recipient(Int)
        /// Before the content was sent.
        case data
        /// After the content: the verdict.
        case content
    }

    public var stage: Stage
    /// 2xx success, 4xx try again later, 5xx never (RFC 5321 §4.2.1).
    public var code: Int
    /// The server's words, without the codes before them, cut; not cleaned.
    public var text: String

    public init(stage: Stage, code: Int, text: String = "") { (self.stage, self.code, self.text) = (stage, code, text) }

    /// The server has taken the mail.
    public var isAcceptance: Bool { stage == .content && (200..<300).contains(code) }
}

/// `smtp://host:port` or `smtps://host:port`.
public struct MailServer: Sendable, Hashable {
    /// TLS from the first byte (RFC 8314).
    public let isTLS: Bool
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    public let host: String
    public let port: Int

    /// Nil for what is no such URL, or holds more than scheme, host and port. Without a port: 587 (RFC 6409), with
    /// `smtps` 465.
    public init?(_ url: String) {
        let lower = url.lowercased()
        guard let scheme = ["smtp://", "smtps://"].first(where: lower.hasPrefix) else { return nil }
        var rest = lower.dropFirst(scheme.count)
        if rest.last == "/" { rest.removeLast() }
        let bracket = rest.first == "[" ? rest.firstIndex(of: "]") : nil
        let name = bracket.map { rest[...$0] } ?? rest.prefix { $0 != ":" }
        let tail = rest.dropFirst(name.count)
        let isGood = name.first == "[" ? MailServer.isAddress(name) : MailServer.isName(name)
        guard isGood, tail.isEmpty || tail.first == ":" else { return nil }
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

    /// This machine, as far as the name says so.
    public var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

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
