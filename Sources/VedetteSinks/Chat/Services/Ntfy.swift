// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Posts to a topic of ntfy. https://docs.ntfy.sh/publish/#publish-as-json
enum NtfyKind {
    static let entry = SinkKindEntry.chat(
        "ntfy", "Publishes to a topic of ntfy.sh or of a server of your own.",
        [
            OptionSpec(
                "topic", .textOrSecret,
                "The topic; on a public server whoever guesses it may read along, so `{env: NAME}` and the like are good.",
                required: true),
            OptionSpec("url", .text, "The server.", default: "https://ntfy.sh"),
            OptionSpec("token", .secret, "An access token, where the topic asks for one."),
            OptionSpec("user", .text, "For basic authentication, with `password`."),
            OptionSpec("password", .secret, "For basic authentication, with `user`."), .update, .links,
        ], isHosted: true,
        make: { options throws(OptionProblem) in
            let base = try options.base(standard: "https://ntfy.sh")
            if let path = WebURL(base)?.path, !path.isEmpty {
                throw OptionProblem("url", detail: "is the server alone; write what follows its name as `topic`")
            }
            let topic = options.secret("topic") ?? Secret(options.text("topic") ?? "")
            if let detail = Ntfy.problem(inTopic: topic.value) { throw OptionProblem("topic", detail: detail) }
            let token = options["token"] == nil ? nil : try options.token()
            let credentials = try options.login()
            if token != nil, credentials != nil {
                throw OptionProblem("token", detail: "takes the place of `user` and `password`; write one of them")
            }
            return Ntfy(
                base: base, topic: topic, token: token, credentials: credentials,
                updates: options.flag("update") ?? false)
        })
}

struct Ntfy: Chat {
    let base: String
    let topic: Secret
    let token: Secret?
    let credentials: Credentials?
    let updates: Bool
    /// 60 at once, then one every five seconds.
    let rate = CallRate(every: .seconds(5), burst: 60)
    var secrets: [Secret] { [topic, token, credentials?.password].compactMap { $0 } }

    /// Lengths are in bytes of UTF-8; a longer message would become an attachment.
    static let text = ChatText(.bytes)
    private static let longestMessage = 4000
    /// Twice what the server takes as a message: https://github.com/binwiederhier/ntfy/blob/main/server/server.go
    private static let longestDocument = 8192

    static func problem(inTopic topic: String) -> String? {
        isWord(topic) ? nil : "is no topic: 1 to 64 letters, digits, `-` and `_`"
    }

    /// Whether it has the syntax of a topic, which a sequence has, too.
    private static func isWord(_ text: String) -> Bool { (1...64).contains(text.utf8.count) && HTTPSyntax.isWord(text) }

    func post(_ content: ChatContent) throws(MessageError) -> ChatPost {
        if let detail = Ntfy.problem(inTopic: topic.value) { throw MessageError(sink: "topic \(detail)") }
        let facts = content.facts.map { "\($0.name): \($0.value)" }
        let text = ([content.text] + facts + [content.origin]).filter { !$0.isEmpty }.joined(separator: "\n")
        // All tags together may have 512 bytes, and commas separate them.
        let words = content.tags.map { tag in
            // This goes by scalars: a comma with a combining mark is another character, and ntfy still reads a comma.
            Ntfy.text.line(String(String.UnicodeScalarView(tag.unicodeScalars.filter { $0 != "," })), 50)
        }
        let tags = [Ntfy.tag(content.color)].compactMap { $0 } + words.filter { !$0.isEmpty }
        func json(_ message: String) -> JSON {
            .members([
                "topic": .string(topic.value),
                // https://docs.ntfy.sh/publish/#updating-notifications: the id of the first message, as the server gave it.
                "sequence_id": content.replacing.map(JSON.string),
                "title": .string(Ntfy.text.line(content.title, 1000)),
                "message": .string(message),
                "priority": .number(Ntfy.priority(content.priority)),
                "tags": tags.isEmpty ? nil : .array(tags.map(JSON.string)),
                "click": content.link.map(JSON.string),
                // https://docs.ntfy.sh/publish/#action-buttons: a `view` opens the address in a browser.
                "actions": content.actions.isEmpty
                    ? nil
                    : .array(
                        content.actions.map {
                            .members(["action": .string("view"), "label": .string($0.label), "url": .string($0.url)])
                        }),
            ])
        }
        var message = Ntfy.text.lines(text, Ntfy.longestMessage, page: content.page)
        let excess = json(message).bytes.count - Ntfy.longestDocument
        if excess > 0 {
            // A text that is cut ends with a line break of its own, which takes two bytes.
            let room = message.utf8.count - excess - 2
            message = Ntfy.text.lines(text, max(1, room), page: content.page)
        }
        let headers = token.map { [Header("Authorization", Secret("Bearer " + $0.value))] } ?? []
        return ChatPost(url: base + "/", headers: headers, credentials: credentials, json: json(message))
    }

    private static func priority(_ priority: Priority) -> Int {
        switch priority {
        case .low: 2
        case .normal: 3
        case .high: 5
        }
    }

    /// The tag that ntfy shows as a picture before the title. https://docs.ntfy.sh/emojis/
    private static func tag(_ color: ChatColor) -> String? {
        switch color {
        case .good: "white_check_mark"
        case .bad: "rotating_light"
        case .warning: "warning"
        case .neutral: nil
        }
    }

    /// https://github.com/binwiederhier/ntfy/blob/main/server/errors.go
    func outcome(of reply: ChatReply) -> Outcome {
        guard !(200..<300).contains(reply.status) else {
            // A server before 2.16 knows no sequence: then it is a message of its own.
            let json = updates ? reply.json : nil
            let names = [json?["sequence_id"]?.string, json?["id"]?.string].compactMap { $0 }
            return .delivered(as: names.first(where: Ntfy.isWord))
        }
        let number = reply.json?["code"]?.int64
        let code = number.map { "code \($0)" }
        // No topic, or a name that the server keeps for itself.
        return number == 40009 || number == 40010 ? reply.pausing(code, "correct the topic") : reply.outcome(code)
    }
}
