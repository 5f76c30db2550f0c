// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The content of a message for a chat, before the chat's own format and escapes.
struct ChatContent: Sendable {
    struct Fact: Sendable, Hashable {
        var name: String
        var value: String

        init(name: String, value: String) { (self.name, self.value) = (name, value) }

        /// `state`: `Starting → Ready for use`
        init(_ change: FieldChange) {
            let values = "\(ChatContent.shown(change.from)) → \(ChatContent.shown(change.to))"
            self.init(name: change.field, value: change.isLong ? change.summary : values)
        }
    }

    var id: String
    /// See `Message.replacing`.
    var replacing: String?
    /// Never empty.
    var title: String
    /// May be empty.
    var text: String
    /// http or https, printable ASCII without quotes and brackets of any kind of markup.
    var link: String?
    /// The address of the event on the page; nil when people cannot open the page.
    var page: String?
    /// Links that act on the match; only `ChatSink` and `MailSink` set them, for one attempt.
    var actions: [MessageAction] = []
    var color: ChatColor
    /// The changes that the title does not show.
    var facts: [Fact]
    /// `lab-systems · ready`: the source, unless title or text name it, and the rule.
    var origin: String
    /// The rule's labels.
    var tags: [String]
    /// Identifies the item, without showing its key, so that messages about it form a thread; without an item, the source.
    var thread: String
    var sourceThread: String
    var time: Timestamp
    var priority: Priority

    /// Further facts would not be read.
    static let maximumFacts = 8
    /// Further labels are left out, in mail too.
    static let maximumTags = 8

    /// - Parameter publicURL: the address of the page, without a slash at its end.
    init(_ message: Message, publicURL: String? = nil) {
        let event = message.event
        page = publicURL.map { "\($0)/events/\(WebURL.encoded(event.id.description))" }
        (id, replacing) = (message.id, message.replacing)
        (text, priority, time) = (message.text.trimmed(), message.priority, event.time)
        let titles = [message.title, MessageTitle.of(event, field: message.field), event.source]
        title = titles.map { $0.trimmed() }.first { !$0.isEmpty } ?? "?"
        link = event.item?.url.flatMap(ChatContent.link)
        color = ChatColor(of: event)
        let isNamed = ChatContent.names(event, title: title, text: text)
        origin = isNamed ? message.rule : "\(event.source) · \(message.rule)"
        tags = Array(message.tags.prefix(ChatContent.maximumTags))
        let main = message.change
        facts = event.changes.filter { $0 != main }.prefix(ChatContent.maximumFacts).map { Fact($0) }
        sourceThread = ChatContent.name([event.source])
        thread = ChatContent.name([event.source] + (event.item.map { [$0.key] } ?? []))
    }

    /// Returns whether title or text name the source already: `MessageText` does.
    private static func names(_ event: Event, title: String, text: String) -> Bool {
        guard event.item == nil else { return text == event.source || text.hasPrefix(event.source + " · ") }
        return title == event.source || title.hasPrefix(event.source + " ") || title.hasSuffix(" " + event.source)
            || title.contains(" \(event.source) ")
    }

    private static func name(_ words: [String]) -> String {
        var digest = StableHash()
        for word in words { digest.add(word) }
        return String(digest.value, radix: 16)
    }

    /// `lab-systems · ready #prod`
    var footer: String { ([origin] + tags.map { "#" + $0 }).joined(separator: " ") }

    private static func shown(_ value: Value?) -> String {
        guard let text = value?.description else { return "(none)" }
        return text.isEmpty ? "(empty)" : text
    }

    /// Returns nil for anything but a web address that every chat accepts.
    static func link(_ url: String) -> String? {
        guard url.utf8.count <= 2000, let parsed = WebURL(url) else { return nil }
        let forbidden = Set("\"<>\\^`{|}".utf8)
        let encoded = parsed.text.utf8.map { byte in
            (33...126).contains(byte) && !forbidden.contains(byte)
                ? String(Unicode.Scalar(byte)) : WebURL.encoded(byte)
        }.joined()
        return encoded.utf8.count <= 2000 ? encoded : nil
    }
}
