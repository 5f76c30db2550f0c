// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Posts as a bot to a chat, group or channel of Telegram. https://core.telegram.org/bots/api#sendmessage
enum TelegramKind {
    static let entry = SinkKindEntry.chat(
        "telegram", "Sends to a Telegram chat, group or channel as a bot.",
        [
            OptionSpec("token", .secret, "The bot's token, from @BotFather.", required: true),
            OptionSpec("chat", .text, "The chat's number, or @NAME of a public channel.", required: true),
            OptionSpec("thread", .integer(1...Int(Int32.max)), "The number of a forum's topic."), .update, .links,
            OptionSpec("url", .text, "Another Bot API server.", default: "https://api.telegram.org"),
        ],
        make: { options throws(OptionProblem) in
            let token = try options.token()
            if let detail = Telegram.problem(inToken: token.value) { throw OptionProblem("token", detail: detail) }
            guard let chat = Telegram.chat(try options.line("chat") ?? "") else {
                throw OptionProblem("chat", detail: "is neither a number (-1001234567890) nor a name (@channel)")
            }
            return Telegram(
                base: try options.base(standard: "https://api.telegram.org"), token: token, chat: chat,
                thread: options.integer("thread"), updates: options.flag("update") ?? false)
        })
}

struct Telegram: Chat {
    let base: String
    let token: Secret
    let chat: JSON
    let thread: Int?
    let updates: Bool
    var secrets: [Secret] { [token] }

    /// One a second in a chat; 20 a minute in a group or channel.
    var rate: CallRate { isGroup ? CallRate(every: .seconds(3), burst: 3) : CallRate(every: .seconds(1), burst: 3) }

    private var isGroup: Bool { chat.int64.map { $0 < 0 } ?? true }

    /// An entity makes the title bold, not markup, so nothing needs an escape; but Telegram looks for names behind an `@` in
    /// any text. At most 4,096 UTF-16 units in all.
    static let text = ChatText(.utf16, linksAddresses: true) { $0 == "@" ? "@\u{200B}" : nil }

    static func problem(inToken token: String) -> String? {
        let parts = token.split(separator: ":", omittingEmptySubsequences: false)
        let isGood =
            parts.count == 2 && parts[0].utf8.allSatisfy { (48...57).contains($0) } && !parts[0].isEmpty
            && parts[1].utf8.count >= 20 && HTTPSyntax.isWord(String(parts[1]))
        return isGood ? nil : "is no bot token: those read 123456789:AA…, as @BotFather shows them"
    }

    static func chat(_ text: String) -> JSON? {
        if let number = Int64(text) { return .number(number) }
        let isName = text.hasPrefix("@") && text.count > 1 && HTTPSyntax.isWord(String(text.dropFirst()))
        return isName ? .string(text) : nil
    }

    func post(_ content: ChatContent) throws(MessageError) -> ChatPost {
        if let detail = Telegram.problem(inToken: token.value) { throw MessageError(sink: "token \(detail)") }
        let title = Telegram.text.line(content.title, 400)
        let facts = content.facts.map { "\(Telegram.text.line($0.name, 60)): \(Telegram.text.line($0.value, 150))" }
        let body = content.text.isEmpty ? [] : [Telegram.text.lines(of: content, 1700)]
        let text = ([Telegram.mark(content.color) + title] + body + facts + [Telegram.text.line(content.footer, 200)])
            .joined(separator: "\n")
        let mark = Telegram.mark(content.color).utf16.count
        func entity(_ type: String, _ url: String? = nil) -> JSON {
            .members([
                "type": .string(type), "offset": .number(mark), "length": .number(title.utf16.count),
                "url": url.map(JSON.string),
            ])
        }
        // https://core.telegram.org/bots/api#editmessagetext
        let edited = content.replacing.flatMap(number)
        let json = JSON.members([
            "chat_id": chat, "message_id": edited.map { .number($0) },
            "message_thread_id": edited == nil ? thread.map { .number($0) } : nil, "text": .string(text),
            "entities": .array([entity("bold")] + (content.link.map { [entity("text_link", $0)] } ?? [])),
            "link_preview_options": .members(["is_disabled": .bool(true)]),
            // https://core.telegram.org/bots/api#inlinekeyboardbutton. A changed message without it loses its buttons.
            "reply_markup": content.actions.isEmpty
                ? nil
                : .members([
                    "inline_keyboard": .array([
                        .array(
                            content.actions.map { .members(["text": .string($0.label), "url": .string($0.url)]) })
                    ])
                ]),
            "disable_notification": edited == nil ? .bool(content.priority == .low) : nil,
        ])
        let method = edited == nil ? "sendMessage" : "editMessageText"
        return ChatPost(url: "\(base)/bot\(token.value)/\(method)", json: json)
    }

    /// A message has a number in its chat: in another chat it is another message.
    private func name(of number: Int64) -> String { "\(chat.string ?? chat.int64.map { "\($0)" } ?? "")/\(number)" }

    /// Returns the number of a message of this chat.
    private func number(_ name: String) -> Int64? {
        name.split(separator: "/").last.flatMap { Int64($0) }.flatMap { self.name(of: $0) == name ? $0 : nil }
    }

    /// It was deleted, or can no longer be edited. One that has these texts already is no failure: the answer to an earlier
    /// attempt was lost.
    func refusesUpdate(_ reply: ChatReply) -> Bool { reply.status == 400 && !isUnchanged(reply) }

    /// `Bad Request: inline keyboard button URL '…' is invalid: Wrong HTTP URL`, of names that only a local network knows.
    func refusesActions(_ reply: ChatReply) -> Bool {
        let words = reply.json?["description"]?.string?.lowercased() ?? ""
        return reply.status == 400 && words.contains("button") && words.contains("url")
    }

    private func isUnchanged(_ reply: ChatReply) -> Bool {
        reply.json?["description"]?.string?.lowercased().contains("message is not modified") == true
    }

    /// Telegram has no colours, so a symbol shows the mood.
    private static func mark(_ color: ChatColor) -> String {
        switch color {
        case .good: "🟢 "
        case .bad: "🔴 "
        case .warning: "🟡 "
        case .neutral: ""
        }
    }

    /// Words of refusals that are about the chat and not about the message, in lower case.
    private static let refusals = [
        "not enough rights", "need administrator rights", "no rights to send", "have no write access",
        "chat_write_forbidden", "chat_admin_required", "chat_restricted",
    ]

    /// https://core.telegram.org/bots/api#making-requests
    func outcome(of reply: ChatReply) -> Outcome {
        guard let json = reply.json, json["ok"] == .bool(false) else {
            let (outcome, number) = (reply.outcome(), reply.json?["result"]?["message_id"]?.int64)
            guard updates, outcome == .delivered, let number else { return outcome }
            return .delivered(as: name(of: number))
        }
        guard !isUnchanged(reply) else { return .delivered }
        let (code, asked) = (json["description"]?.string, json["parameters"])
        if let moved = asked?["migrate_to_chat_id"]?.int64 {
            return reply.pausing(nil, "the group became a supergroup; write 'chat: \(moved)'")
        }
        switch (reply.status, code?.lowercased()) {
        case (429, _): return reply.outcome(wait: ChatReply.wait(seconds: asked?["retry_after"]?.double))
        case (404, _): return reply.pausing(nil, "the bot's token is wrong")
        case (400, let code?) where code.contains("chat not found"):
            return reply.pausing(code, "correct the chat, and write to the bot or add it there first")
        case (400, let code?) where code.contains("thread not found"): return reply.pausing(code, "correct the thread")
        case (400, let code?) where code.contains("topic_"):
            return reply.pausing(code, "open the topic, or correct the thread")
        case (400, let code?) where Telegram.refusals.contains { code.contains($0) }:
            return reply.pausing(code, "let the bot write there")
        default: return reply.outcome((200..<300).contains(reply.status) ? nil : code)
        }
    }
}
