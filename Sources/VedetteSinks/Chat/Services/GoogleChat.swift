// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Posts to a Google Chat space through a webhook. https://developers.google.com/workspace/chat/quickstart/webhooks
enum GoogleChatKind {
    static let entry = SinkKindEntry.chat(
        "googlechat", "Posts a card to a Google Chat space through a webhook.",
        [
            WebhookAddress.spec("The address of the webhook; whoever knows it may post."),
            OptionSpec(
                "thread", .choice(GoogleChat.Thread.allCases.map(\.rawValue)),
                "`item`: the messages about one item share a thread; `source`: those about one source.", default: "none"
            ),
        ],
        make: { options throws(OptionProblem) in
            let thread = options.text("thread").flatMap(GoogleChat.Thread.init) ?? .none
            return GoogleChat(address: try WebhookAddress(options, problem: GoogleChat.problem), thread: thread)
        })
}

struct GoogleChat: Chat {
    enum Thread: String, Sendable, CaseIterable {
        case none, item, source
    }

    let address: WebhookAddress
    let thread: Thread
    /// 60 a minute in one space.
    let rate = CallRate(every: .seconds(1), burst: 1)
    var secrets: [Secret] { [address.secret] }

    /// A message may have 32,000 bytes as JSON, where a quote or backslash takes two. Headers and labels are plain text,
    /// paragraphs are HTML.
    static let plain = ChatText(.bytes)
    static let html = ChatText.html(.bytes)

    static func problem(_ url: WebURL) -> String? {
        guard url.isAt("googleapis.com") else { return nil }
        if url.scheme != "https" { return "must begin with https://" }
        let names = (url.query ?? "").split(separator: "&").map { $0.prefix { $0 != "=" } }
        guard url.path.hasPrefix("/v1/spaces/"), url.path.hasSuffix("/messages"), names.contains("key"),
            names.contains("token")
        else { return "is no webhook: those read https://chat.googleapis.com/v1/spaces/…/messages?key=…&token=…" }
        return nil
    }

    func post(_ content: ChatContent) throws(MessageError) -> ChatPost {
        let card = JSON.members([
            "header": .members([
                "title": .string(GoogleChat.plain.line(content.title, 600)),
                "subtitle": .string(GoogleChat.plain.line(content.footer, 400)),
            ]),
            "sections": .array([.members(["widgets": .array(widgets(content))])]),
        ])
        let threadKey: String? =
            switch thread {
            case .none: nil
            case .item: content.thread
            case .source: content.sourceThread
            }
        let json = JSON.members([
            "fallbackText": .string(GoogleChat.unmentioned(GoogleChat.plain.line(content.title, 600))),
            "cardsV2": .array([.members(["cardId": .string(content.id), "card": card])]),
            "thread": threadKey.map { .members(["threadKey": .string($0)]) },
        ])
        let query = threadKey.map { _ in
            [(name: "messageReplyOption", value: "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD")]
        }
        return ChatPost(url: try address.url().setting(query ?? []), json: json)
    }

    private func widgets(_ content: ChatContent) -> [JSON] {
        let dot = "<font color=\"\(content.color.hex)\">●</font> "
        let text = content.text.isEmpty ? content.title : content.text
        let paragraph = JSON.members([
            "textParagraph": .members(["text": .string(dot + GoogleChat.html.lines(text, 7000, page: content.page))])
        ])
        let facts = content.facts.map { fact in
            JSON.members([
                "decoratedText": .members([
                    "topLabel": .string(GoogleChat.plain.line(fact.name, 100)),
                    "text": .string(GoogleChat.html.lines(fact.value, 400)), "wrapText": .bool(true),
                ])
            ])
        }
        let open = content.link.map { link in
            JSON.members([
                "buttonList": .members([
                    "buttons": .array([
                        .members([
                            "text": .string("Open"),
                            "onClick": .members(["openLink": .members(["url": .string(link)])]),
                        ])
                    ])
                ])
            ])
        }
        return [paragraph] + facts + (open.map { [$0] } ?? [])
    }

    /// `<users/all>` is a mention in texts.
    private static func unmentioned(_ text: String) -> String {
        text.split(separator: "<", omittingEmptySubsequences: false).joined(separator: "<\u{200B}")
    }

    func outcome(of reply: ChatReply) -> Outcome {
        let code = reply.json?["error"]?["status"]?.string
        switch (reply.status, code) {
        case (404, "NOT_FOUND"): return reply.disabling(code, "the space or its webhook was deleted; make a new one")
        case (200..<300, _): return reply.outcome()
        default: return reply.outcome(code)
        }
    }
}
