// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Posts an Adaptive Card to a Teams workflow with a webhook trigger.
/// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
enum TeamsKind {
    static let entry = SinkKindEntry.chat(
        "teams", "Posts an Adaptive Card to Microsoft Teams through a workflow.",
        [WebhookAddress.spec("The address of the workflow's webhook; whoever knows it may post.")],
        make: { options throws(OptionProblem) in
            Teams(address: try WebhookAddress(options, problem: Teams.problem))
        })
}

struct Teams: Chat {
    let address: WebhookAddress
    /// More than four requests a second are throttled.
    let rate = CallRate(every: .milliseconds(500), burst: 2)
    var secrets: [Secret] { [address.secret] }

    /// Runs of text are never Markdown, so nothing needs an escape. Lengths are in bytes: a message may have 28 KB as JSON,
    /// where a quote or backslash takes two.
    static let text = ChatText(.bytes)
    static let maximumLines = 20

    static func problem(_ url: WebURL) -> String? {
        if url.isAt("webhook.office.com") || url.isAt("outlook.office.com") {
            return "is an Office 365 connector, which Microsoft has retired; make a workflow "
                + "\"Post to a channel when a webhook request is received\" and write its url"
        }
        guard url.isAt("logic.azure.com") || url.isAt("powerplatform.com") || url.isAt("powerautomate.com") else {
            return nil
        }
        if url.scheme != "https" { return "must begin with https://" }
        return (url.query ?? "").split(separator: "&").contains { $0.hasPrefix("sig=") && $0.count > 4 }
            ? nil : "lacks its `sig=`; copy the whole address"
    }

    func post(_ content: ChatContent) throws(MessageError) -> ChatPost {
        let attachment = JSON.members([
            "contentType": .string("application/vnd.microsoft.card.adaptive"), "contentUrl": .null,
            "content": card(content),
        ])
        let json = JSON.members([
            "type": .string("message"), "summary": .string(Teams.text.line(content.title, 200)),
            "attachments": .array([attachment]),
        ])
        return ChatPost(url: try address.url().text, json: json)
    }

    private func card(_ content: ChatContent) -> JSON {
        let title = run(Teams.text.line(content.title, 600), ["weight": .string("Bolder"), "size": .string("Medium")])
        let header = JSON.members([
            "type": .string("Container"), "style": .string(Teams.style(content.color)), "bleed": .bool(true),
            "items": .array([block([title])]),
        ])
        let origin = run(Teams.text.line(content.footer, 400), ["size": .string("Small"), "isSubtle": .bool(true)])
        let open = content.link.map { link in
            JSON.members(["type": .string("Action.OpenUrl"), "title": .string("Open"), "url": .string(link)])
        }
        return .members([
            "$schema": .string("http://adaptivecards.io/schemas/adaptive-card.json"),
            "type": .string("AdaptiveCard"), "version": .string("1.4"),
            "body": .array([header] + lines(content) + content.facts.map(fact) + [block([origin])]),
            "actions": open.map { .array([$0]) },
            "msteams": .members(["width": .string("Full")]),
        ])
    }

    /// A run has no line breaks, so each line is a block.
    private func lines(_ content: ChatContent) -> [JSON] {
        Teams.text.lines(of: content, 5000, most: Teams.maximumLines).split(separator: "\n").map {
            block([run(String($0), [:])])
        }
    }

    private func fact(_ fact: ChatContent.Fact) -> JSON {
        block([
            run(Teams.text.line(fact.name, 100) + ": ", ["weight": .string("Bolder")]),
            run(Teams.text.line(fact.value, 500), [:]),
        ])
    }

    private func block(_ runs: [JSON]) -> JSON {
        .members(["type": .string("RichTextBlock"), "inlines": .array(runs)])
    }

    private func run(_ text: String, _ looks: KeyValuePairs<String, JSON>) -> JSON {
        let looks = looks.map { JSON.Member(name: $0, value: $1) }
        let type = JSON.Member(name: "type", value: .string("TextRun"))
        return .object([type, JSON.Member(name: "text", value: .string(text))] + looks)
    }

    private static func style(_ color: ChatColor) -> String {
        switch color {
        case .good: "good"
        case .bad: "attention"
        case .warning: "warning"
        case .neutral: "emphasis"
        }
    }

    /// 202 means that the workflow was started; its result is unknown. A gateway in front of Teams may answer 200 with the
    /// error of Teams in the text.
    func outcome(of reply: ChatReply) -> Outcome {
        if reply.status == 200, reply.text.contains("delivery failed with error") { return failed(reply) }
        let error = reply.json?["error"]
        let code = error?["code"]?.string
        switch code {
        case "WorkflowNotFound": return reply.disabling(code, "make a new workflow")
        case "WorkflowTriggerIsNotEnabled", "WorkflowDisabled", "WorkflowSuspended":
            return reply.pausing(code, "turn the workflow on")
        case "DirectApiAuthorizationRequired", "DirectApiInvalidAuthorizationScheme":
            return reply.pausing(code, "let the workflow be started by anyone, and copy its address anew")
        default: return reply.outcome((200..<300).contains(reply.status) ? nil : code)
        }
    }

    private func failed(_ reply: ChatReply) -> Outcome {
        let digits = reply.text.split(separator: "HTTP error ").dropFirst().first?.prefix { $0.isASCII && $0.isNumber }
        let inner = digits.flatMap { Int($0) } ?? 500
        let reason = "the receiver answered 200, but Teams \(inner)"
        return switch ReceiverOutcome.of(status: inner, retryAfter: reply.retryAfter) {
        case .delivered: .retry(reason: reason, after: nil)
        case .retry(_, let after): .retry(reason: reason, after: after)
        case .rejected: .rejected(reason: reason)
        case .paused: .paused(reason: reason)
        case .disabled: .disabled(reason: reason)
        }
    }
}
