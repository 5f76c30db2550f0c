// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Posts to an application of a Gotify server. https://gotify.net/docs/pushmsg
enum GotifyKind {
    static let entry = SinkKindEntry.chat(
        "gotify", "Pushes through a Gotify server.",
        [
            OptionSpec("url", .text, "The server, as https://push.example.com.", required: true),
            OptionSpec("token", .secret, "The token of an application of that server.", required: true),
        ], isHosted: true,
        make: { options throws(OptionProblem) in Gotify(base: try options.base(), token: try options.token()) })
}

struct Gotify: Chat {
    let base: String
    let token: Secret
    /// The server is the user's own and documents no limit.
    let rate = CallRate(every: .milliseconds(200), burst: 20)
    var secrets: [Secret] { [token] }

    static let text = ChatText(.bytes)

    func post(_ content: ChatContent) throws(MessageError) -> ChatPost {
        let facts = content.facts.map { "\($0.name): \($0.value)" }
        let text = ([content.text] + facts + [content.footer]).filter { !$0.isEmpty }.joined(separator: "\n")
        // https://gotify.net/docs/msgextras
        let extras = JSON.members([
            "client::display": .members(["contentType": .string("text/plain")]),
            "client::notification": content.link.map { .members(["click": .members(["url": .string($0)])]) },
        ])
        let json = JSON.members([
            "title": .string(Gotify.text.line(content.title, 600)),
            "message": .string(Gotify.text.lines(text, 8000, page: content.page)),
            "priority": .number(Gotify.priority(content.priority)), "extras": extras,
        ])
        return ChatPost(url: base + "/message", headers: [Header("X-Gotify-Key", token)], json: json)
    }

    /// A phone makes a sound from 4 on, and vibrates from 8 on.
    private static func priority(_ priority: Priority) -> Int {
        switch priority {
        case .low: 2
        case .normal: 5
        case .high: 8
        }
    }
}
