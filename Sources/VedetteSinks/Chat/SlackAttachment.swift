// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Builds the message attachment of Slack, which Mattermost accepts too: a coloured bar, a title with its link, text, fields and a
/// footer. https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
struct SlackAttachment: Sendable {
    var title: ChatText
    var text: ChatText
    var longestText: Int
    /// A field shorter than this is shown beside another one.
    private static let short = 40

    init(title: ChatText, text: ChatText, longestText: Int) {
        (self.title, self.text, self.longestText) = (title, text, longestText)
    }

    func json(_ note: ChatNote) -> JSON {
        .members([
            "fallback": .string(title.line(note.title, 300)),
            "color": .string(note.tone.hex),
            "title": .string(title.line(note.title, 300)),
            "title_link": note.link.map(JSON.string),
            "text": note.text.isEmpty ? nil : .string(text.lines(note.text, longestText)),
            "fields": note.facts.isEmpty ? nil : .array(note.facts.map(field)),
            "footer": .string(title.line(note.footer, 200)),
            "ts": .number(note.time.milliseconds / 1000),
            // Nothing is formatted, whatever stars and underscores a text holds.
            "mrkdwn_in": .array([]),
        ])
    }

    private func field(_ fact: ChatNote.Fact) -> JSON {
        let value = text.lines(fact.value, 500)
        return .members([
            "title": .string(title.line(fact.name, 100)), "value": .string(value),
            "short": .bool(value.utf16.count <= SlackAttachment.short),
        ])
    }
}
