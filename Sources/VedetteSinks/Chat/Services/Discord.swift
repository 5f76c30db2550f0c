// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Posts through a webhook of Discord. https://discord.com/developers/docs/resources/webhook#execute-webhook
enum DiscordKind {
    static let entry = SinkKindEntry.chat(
        "discord", "Posts to a Discord channel through a webhook.",
        [
            WebhookAddress.spec("The address of the webhook; whoever knows it may post."),
            OptionSpec("username", .text, "The name that the message appears under."),
            OptionSpec("thread", .text, "The number of a thread or forum post to write into."),
        ],
        make: { options throws(OptionProblem) in
            let thread = try options.line("thread")
            if let thread, !thread.utf8.allSatisfy({ (48...57).contains($0) }) {
                throw OptionProblem("thread", detail: "is the thread's number: turn on developer mode and copy its id")
            }
            let username = try options.line("username")
            if let detail = username.flatMap(Discord.problem(inUsername:)) {
                throw OptionProblem("username", detail: detail)
            }
            return Discord(
                address: try WebhookAddress(options, problem: Discord.problem), username: username, thread: thread)
        })
}

struct Discord: Chat {
    let address: WebhookAddress
    let username: String?
    let thread: String?
    /// 30 a minute for one webhook; a burst of 5 within 2 s.
    let rate = CallRate(every: .seconds(2), burst: 5)
    var secrets: [Secret] { [address.secret] }

    static let plain = ChatText(.utf16)
    /// Titles and names have no links of addresses.
    static let title = ChatText.markdown(.utf16, marks: marks)
    static let text = ChatText.markdown(.utf16, marks: marks, linksAddresses: true)
    private static let marks = ##"\`*_~|<>#[]"##

    static func problem(_ url: WebURL) -> String? {
        guard url.isAt("discord.com") || url.isAt("discordapp.com") else { return nil }
        if url.scheme != "https" { return "must begin with https://" }
        let parts = url.path.split(separator: "/")
        guard parts.first == "api", let at = parts.firstIndex(of: "webhooks"), parts.count == at + 3 else {
            return "is no webhook: those read https://discord.com/api/webhooks/ID/TOKEN"
                + (parts.count > 4 ? ", without /slack or /github" : "")
        }
        return nil
    }

    /// https://discord.com/developers/docs/resources/webhook#create-webhook
    static func problem(inUsername name: String) -> String? {
        let name = name.lowercased()
        if let word = ["discord", "clyde"].first(where: name.contains) {
            return "must not contain '\(word)': Discord refuses it"
        }
        return ["everyone", "here"].contains(name) ? "must not be '\(name)': Discord refuses it" : nil
    }

    /// The sum of an embed's texts may be 6,000: 256 + 3,000 + 8 · (60 + 200) + 200 at most.
    func post(_ content: ChatContent) throws(MessageError) -> ChatPost {
        let embed = JSON.members([
            "title": .string(Discord.title.line(content.title, 256)),
            "url": content.link.map(JSON.string),
            "description": content.text.isEmpty ? nil : .string(Discord.text.lines(of: content, 3000)),
            "color": .number(content.color.rgb),
            "fields": content.facts.isEmpty ? nil : .array(content.facts.map(field)),
            "footer": .members(["text": .string(Discord.plain.line(content.footer, 200))]),
            "timestamp": .string(content.time.rfc3339),
        ])
        let json = JSON.members([
            "username": username.map { .string(Discord.plain.line($0, 80)) }, "embeds": .array([embed]),
            // Nobody is mentioned, whatever a text holds.
            "allowed_mentions": .members(["parse": .array([])]),
        ])
        // With `wait` the answer comes after the message was stored, and errors with it.
        var query = [(name: "wait", value: "true")]
        if let thread { query.append((name: "thread_id", value: thread)) }
        return ChatPost(url: try address.url().setting(query), json: json)
    }

    private func field(_ fact: ChatContent.Fact) -> JSON {
        .members([
            "name": .string(Discord.title.line(fact.name, 60)), "value": .string(Discord.text.lines(fact.value, 200)),
            "inline": .bool(true),
        ])
    }

    /// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
    func outcome(of reply: ChatReply) -> Outcome {
        guard !(200..<300).contains(reply.status), let json = reply.json else { return reply.outcome() }
        let number = json["code"]?.int64
        let code = number.map { "code \($0)" }
        switch (reply.status, number) {
        case (429, _): return reply.outcome(code, wait: ChatReply.wait(seconds: json["retry_after"]?.double))
        case (_, 10015?): return reply.disabling(code, "the webhook was deleted; make a new one")
        case (_, 10003?), (_, 50083?), (_, 160005?): return reply.pausing(code, "correct the thread")
        case (_, 220001?): return reply.pausing(code, "a forum takes messages in a thread only; write 'thread'")
        // The other fields that Discord may find wrong are the message's.
        case (400, 50035?) where json["errors"]?["username"] != nil:
            return reply.pausing(code, "correct the username")
        default: return reply.outcome(code)
        }
    }
}
