// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Posts through an incoming webhook of Slack. https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
enum SlackKind {
    static let entry = SinkKindEntry.chat(
        "slack", "Posts to a Slack channel through an incoming webhook.",
        [WebhookAddress.spec("The address of the incoming webhook; whoever knows it may post.")],
        make: { options throws(OptionProblem) in
            Slack(address: try WebhookAddress(options, problem: Slack.problem))
        })
}

struct Slack: Chat {
    let address: WebhookAddress
    /// One message a second in a channel; short bursts are allowed.
    let rate = CallRate(every: .seconds(1), burst: 3)
    var secrets: [Secret] { [address.secret] }

    /// Slack needs escapes for `&`, `<` and `>` alone, and they disable `<!channel>` and `<@U1>`. An `@channel` without
    /// brackets is plain text unless `link_names` is set.
    static let text = ChatText(.utf16) { scalar in
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        default: nil
        }
    }

    static func problem(_ url: WebURL) -> String? {
        guard url.isAt("slack.com") || url.isAt("slack-gov.com") else { return nil }
        if url.scheme != "https" { return "must begin with https://" }
        if url.path.hasPrefix("/triggers/") || url.path.hasPrefix("/workflows/") {
            return "starts a workflow, which takes no message; make an incoming webhook in an app of your workspace"
        }
        return url.path.hasPrefix("/services/")
            ? nil : "is no incoming webhook: those read https://hooks.slack.com/services/T…/B…/…"
    }

    func post(_ content: ChatContent) throws(MessageError) -> ChatPost {
        let attachment = SlackLayout(title: Slack.text, text: Slack.text, longestText: 3000)
        let json = JSON.members([
            "attachments": .array([attachment.json(content)]), "unfurl_links": .bool(false),
            "unfurl_media": .bool(false),
        ])
        return ChatPost(url: try address.url().text, json: json)
    }

    /// The body of an error is one code.
    /// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors
    func outcome(of reply: ChatReply) -> Outcome {
        let code = reply.text.trimmed()
        switch (reply.status, code) {
        case (400..<500, "no_service"), (400..<500, "no_team"), (400..<500, "team_disabled"),
            (400..<500, "no_active_hooks"), (400..<500, "channel_not_found"), (400..<500, "channel_is_archived"):
            return reply.disabling(code, "make a new incoming webhook")
        case (400..<500, "invalid_token"), (400..<500, "no_service_id"), (400..<500, "user_not_found"):
            return reply.pausing(code, "correct the url")
        case (200..<300, _): return reply.outcome()
        default: return reply.outcome(code.allSatisfy { $0.isLowercase || $0 == "_" } ? code : nil)
        }
    }
}
