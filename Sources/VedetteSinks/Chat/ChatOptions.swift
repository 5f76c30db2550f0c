// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension SinkKindEntry {
    /// Makes the row of a chat, with the options that all chats have.
    /// - Parameter isHosted: the user may run the server, possibly with a certificate of its own.
    static func chat(
        _ name: String, _ summary: String, _ options: [OptionSpec], isHosted: Bool = false,
        make: @escaping @Sendable (Options) throws(OptionProblem) -> any Chat
    ) -> SinkKindEntry {
        return SinkKindEntry(
            name: name, summary: summary, options: options + (isHosted ? [.tls] : []) + [.timeout],
            make: { options throws(OptionProblem) in
                let (chat, timeout) = (try make(options), try options.timeout())
                let (tls, hasLinks) = (options.tls("tls"), options.flag("links") ?? false)
                return {
                    ChatSink(name: $0, chat: chat, timeout: timeout, tls: tls, hasLinks: hasLinks, services: $1)
                }
            })
    }
}

extension OptionSpec {
    /// The option of chats that can change a message.
    static let update = OptionSpec(
        "update", .flag, "A reminder, and the end of a match, change the earlier message instead of being one more.",
        default: "false")
}

/// The address of an incoming webhook. Anyone who knows it can post, so the whole of it is a secret.
struct WebhookAddress: Sendable {
    let secret: Secret
    private let problem: @Sendable (WebURL) -> String?

    /// - Parameter problem: returns what is wrong with an address of valid syntax, as the end of "the url …", without
    ///   quoting it.
    init(_ options: Options, problem: @escaping @Sendable (WebURL) -> String? = { _ in nil }) throws(OptionProblem) {
        secret = options.secret("url") ?? Secret(options.text("url") ?? "")
        self.problem = problem
        if let detail = WebhookAddress.complaint(about: secret.value, problem) {
            throw OptionProblem("url", detail: detail)
        }
    }

    /// Returns the current address; the secret may have been read again.
    func url() throws(MessageError) -> WebURL {
        if let detail = WebhookAddress.complaint(about: secret.value, problem) {
            throw MessageError(sink: "url \(detail)")
        }
        guard let url = WebURL(secret.value) else { throw MessageError(sink: "url is no web address") }
        return url
    }

    private static func complaint(about url: String, _ problem: (WebURL) -> String?) -> String? {
        if let detail = ReceiverURL.problem(url) { return detail }
        return WebURL(url).map(problem) ?? "is no web address"
    }

    static func spec(_ summary: String) -> OptionSpec { OptionSpec("url", .secret, summary, required: true) }
}

extension WebURL {
    /// Returns whether the host is that name or below it.
    func isAt(_ domain: String) -> Bool { host == domain || host.hasSuffix("." + domain) }
}
