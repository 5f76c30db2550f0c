// SPDX-License-Identifier: Apache-2.0

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
