// SPDX-License-Identifier: Apache-2.0

/// Sends mail (RFC 5321). It does not retry.
public protocol MailCarrier: Sendable {
    /// Sends one mail to one server: to all recipients or, when the server refuses one of them, to none.
    ///
    /// Cancelling the calling task ends it with `.cancelled`; cancelling a finished one does nothing.
    ///
    /// - Returns: the final reply of the server, also when it is a refusal.
    /// - Throws: when there is no final reply. It is then unknown whether the server accepted the mail.
    func send(_ mail: Mail) async throws(FetchError) -> MailReply
}

/// A mail with its envelope.
public struct Mail: Sendable {
    /// The use of STARTTLS (RFC 3207) on a connection that starts without TLS.
    public enum Upgrade: String, Sendable, Hashable, CaseIterable {
        /// Without it the mail is not sent.
        case required
        /// It is used where the server offers it.
        case optional
        /// It is not used.
        case never
    }

    /// User and password.
    public struct Login: Sendable {
        /// The name of the user.
        public var user: String
        /// The password, or the token of a server that takes one in its place.
        public var password: Secret

        /// Creates a login.
        public init(user: String, password: Secret) { (self.user, self.password) = (user, password) }
    }

    /// The server that takes the mail.
    public var server: MailServer
    /// The use of STARTTLS.
    public var upgrade: Upgrade
    /// How the server is verified.
    public var tls: TLSPolicy
    /// Sent over TLS only, unless the server is this machine.
    public var login: Login?
    /// The name in EHLO; nil for the name of this machine.
    public var hello: String?
    /// Addresses in ASCII, without angle brackets.
    public var sender: String
    /// The addresses that get the mail, in ASCII, without angle brackets.
    public var recipients: [String]
    /// Header and body in lines that end with CR LF. The sender doubles dots (RFC 5321 §4.5.2).
    public var content: [UInt8]
    /// The time for the whole mail, until the server has its content.
    public var timeout: Duration
    /// The time for the reply to the content. Giving up earlier may send the mail twice (RFC 5321 §4.5.3.2.6).
    public var replyTimeout = Duration.seconds(600)
    /// At most 4 mails of one group are in flight.
    public var group: String?

    /// Creates a mail.
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

/// The final reply of a mail server, and the stage of the dialogue it belongs to.
public struct MailReply: Sendable, Hashable {
    /// The stages of the dialogue.
    public enum Stage: Sendable, Hashable {
        /// The greeting, EHLO or STARTTLS.
        case greeting
        /// The authentication.
        case login
        /// MAIL FROM.
        case sender
        /// The recipient with that index.
        case recipient(Int)
        /// Before the content was sent.
        case data
        /// After the content.
        case content
    }

    /// The stage that the reply belongs to.
    public var stage: Stage
    /// 2xx is success, 4xx a temporary and 5xx a permanent failure (RFC 5321 §4.2.1).
    public var code: Int
    /// The text of the reply without its codes, cut to 400 bytes. It is untrusted.
    public var text: String

    /// Creates a reply.
    public init(stage: Stage, code: Int, text: String = "") { (self.stage, self.code, self.text) = (stage, code, text) }

    /// Whether the server has accepted the mail.
    public var isAcceptance: Bool { stage == .content && (200..<300).contains(code) }
}

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
