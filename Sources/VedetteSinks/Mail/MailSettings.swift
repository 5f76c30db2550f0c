// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The validated options of a mail sink.
struct MailSettings: Sendable {
    var server: MailServer
    var upgrade: Mail.Upgrade
    var login: Mail.Login?
    var from: MailAddress
    var to: [MailAddress]
    var cc: [MailAddress]
    var hello: String?
    var tls: TLSPolicy
    var timeout: Duration
    /// Whether a message has links that act on its match.
    var hasLinks: Bool

    /// More would be a mailing list, and a server's limit may be as low (RFC 5321 §4.5.3.1.8).
    private static let maximumRecipients = 100

    var secrets: [Secret] { login.map { [$0.password] } ?? [] }

    /// Each address once.
    var recipients: [String] {
        var seen = Set<String>()
        return (to + cc).map(\.address).filter { seen.insert($0).inserted }
    }

    init(_ options: Options) throws(OptionProblem) {
        guard let server = MailServer(options.text("url") ?? "") else {
            throw OptionProblem(
                "url", detail: "must be smtp://HOST or smtps://HOST, with :PORT where it is another, and nothing else")
        }
        (self.server, tls) = (server, options.tls("tls"))
        upgrade = try Self.upgrade(options, server)
        login = try Self.login(options, server, upgrade)
        from = try MailAddress(options.text("from") ?? "", "from")
        to = try Self.addresses(options, "to")
        cc = try Self.addresses(options, "cc")
        hello = try Self.hello(options)
        timeout = options.duration("timeout") ?? .seconds(60)
        hasLinks = options.flag("links") ?? false
        if to.isEmpty { throw OptionProblem("to", detail: "names nobody; write at least one address") }
        if to.count + cc.count > Self.maximumRecipients {
            throw OptionProblem(
                "to", detail: "and `cc` name more than \(Self.maximumRecipients) addresses; write a mailing list's")
        }
        // RFC 5321 §4.5.3.2.6: a server may take ten minutes to accept a mail.
        guard timeout >= .milliseconds(1), timeout <= .seconds(600) else {
            throw OptionProblem("timeout", detail: "must be longer than nothing and at most 10m")
        }
    }

    private static func upgrade(_ options: Options, _ server: MailServer) throws(OptionProblem) -> Mail.Upgrade {
        let asked = options.text("starttls").flatMap(Mail.Upgrade.init)
        if server.isTLS, asked != nil {
            throw OptionProblem(
                "starttls", detail: "is for smtp://; smtps:// speaks TLS from the first byte; leave it out")
        }
        // A server on this machine seldom has a certificate for `localhost`, and nobody can listen on the way.
        let login = try options.login()
        return asked ?? (server.isLoopback && login == nil ? .never : .required)
    }

    /// If STARTTLS is optional, an attacker in between can remove it (RFC 3207 §6).
    private static func login(
        _ options: Options, _ server: MailServer, _ upgrade: Mail.Upgrade
    ) throws(OptionProblem) -> Mail.Login? {
        guard case .basic(let user, let password)? = try options.login() else { return nil }
        if user.isEmpty || user.utf8.contains(0) { throw OptionProblem("user", detail: "is empty, or holds a NUL") }
        guard server.isTLS || upgrade == .required || server.isLoopback else {
            throw OptionProblem(
                "starttls",
                detail: "must be required beside `password`, which would else go over the network in the clear")
        }
        return Mail.Login(user: user, password: password)
    }

    private static func addresses(_ options: Options, _ name: String) throws(OptionProblem) -> [MailAddress] {
        var out: [MailAddress] = []
        for (i, text) in options.texts(name).enumerated() { out.append(try MailAddress(text, name, String(i))) }
        return out
    }

    private static func hello(_ options: Options) throws(OptionProblem) -> String? {
        guard let name = options.text("hello") else { return nil }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 255, labels.allSatisfy({ !$0.isEmpty && HTTPSyntax.isWord(String($0)) }) else {
            throw OptionProblem("hello", detail: "is no host name; write one like watch.example.org")
        }
        return name
    }
}
