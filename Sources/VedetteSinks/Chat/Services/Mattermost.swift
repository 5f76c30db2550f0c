// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Posts through an incoming webhook of Mattermost. https://developers.mattermost.com/integrate/webhooks/incoming/
enum MattermostKind {
    static let entry = SinkKindEntry.chat(
        "mattermost", "Posts to a Mattermost channel through an incoming webhook.",
        [
            WebhookAddress.spec("The address of the incoming webhook; whoever knows it may post."),
            OptionSpec("channel", .text, "Another channel than the webhook's own, by its name in the address."),
            OptionSpec("username", .text, "The name that the message appears under, where the server allows it."),
        ], isHosted: true,
        make: { options throws(OptionProblem) in
            Mattermost(
                address: try WebhookAddress(options, problem: Mattermost.problem), channel: try options.line("channel"),
                username: try options.line("username"))
        })
}

struct Mattermost: Chat {
    let address: WebhookAddress
    let channel: String?
    let username: String?
    /// The server's default limit is 10 a second for one client.
    let rate = CallRate(every: .milliseconds(500), burst: 10)
    var secrets: [Secret] { [address.secret] }

    /// Titles know no Markdown but links, and would show a backslash; so a zero-width space separates `]` from `(`, as it
    /// separates `@` from a name.
    static let title = ChatText(.utf16) { $0 == "@" || $0 == "]" ? String($0) + "\u{200B}" : nil }
    static let text = ChatText.markdown(.utf16, marks: #"\`*_[]#~|>!"#, linksAddresses: true)

    static func problem(_ url: WebURL) -> String? {
        url.path.contains("/hooks/") ? nil : "is no incoming webhook: those read https://SERVER/hooks/ID"
    }

    func post(_ content: ChatContent) throws(MessageError) -> ChatPost {
        // A post may have 16,383 characters in all.
        let attachment = SlackLayout(title: Mattermost.title, text: Mattermost.text, longestText: 8000)
        let json = JSON.members([
            "channel": channel.map(JSON.string), "username": username.map(JSON.string),
            "attachments": .array([attachment.json(content)]),
        ])
        return ChatPost(url: try address.url().text, json: json)
    }

    func outcome(of reply: ChatReply) -> Outcome {
        let code = reply.json?["id"]?.string
        switch code {
        case "web.incoming_webhook.invalid.app_error", "web.incoming_webhook.disabled.app_error":
            return reply.disabling(code, "make a new incoming webhook, or have them enabled")
        case "web.incoming_webhook.channel.app_error", "web.incoming_webhook.permissions.app_error",
            "web.incoming_webhook.channel_locked.app_error", "web.incoming_webhook.user.app_error",
            // The channel is archived, or the person takes no messages of a stranger.
            "api.post.create_post.can_not_post_to_deleted.error",
            "api.post.create_post.can_not_post_in_restricted_dm.error":
            return reply.pausing(code, "correct the channel")
        default: return reply.outcome(code)
        }
    }
}
