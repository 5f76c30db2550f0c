// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Builds the message attachment of Slack, which Mattermost accepts too: a coloured bar, a title with its link, text, fields and a
/// footer. https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
struct SlackLayout: Sendable {
    var title: ChatText
    var text: ChatText
    var longestText: Int
    /// A field shorter than this is shown beside another one.
    private static let short = 40

    init(title: ChatText, text: ChatText, longestText: Int) {
        (self.title, self.text, self.longestText) = (title, text, longestText)
    }

    func json(_ content: ChatContent) -> JSON {
        .members([
            "fallback": .string(title.line(content.title, 300)),
            "color": .string(content.color.hex),
            "title": .string(title.line(content.title, 300)),
            "title_link": content.link.map(JSON.string),
            "text": content.text.isEmpty ? nil : .string(text.lines(of: content, longestText)),
            "fields": content.facts.isEmpty ? nil : .array(content.facts.map(field)),
            "footer": .string(title.line(content.footer, 200)),
            "ts": .number(content.time.milliseconds / 1000),
            // Nothing is formatted, whatever stars and underscores a text holds.
            "mrkdwn_in": .array([]),
        ])
    }

    private func field(_ fact: ChatContent.Fact) -> JSON {
        let value = text.lines(fact.value, 500)
        return .members([
            "title": .string(title.line(fact.name, 100)), "value": .string(value),
            "short": .bool(value.utf16.count <= SlackLayout.short),
        ])
    }
}
