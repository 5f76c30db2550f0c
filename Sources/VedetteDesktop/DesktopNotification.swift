// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The content of a notification, independent of the daemon's capabilities.
struct DesktopNotification: Sendable, Hashable {
    /// A notification replaces the previous one of the same key, in place.
    enum Key: Sendable, Hashable {
        case item(source: String, key: String)
        case source(String)
        /// A message about several.
        /// - Parameter source: the source of all of them; nil where a field groups them, or there are several.
        case several(rule: String, source: String?, group: String?)
        /// The summary of missed messages.
        case missed
    }

    enum Urgency: UInt8, Sendable, Hashable { case low, normal, critical }

    var key: Key
    /// What it tells of: an earlier notification of the rule that tells of nothing else is closed.
    var told: Set<Subject> = []
    var title: String
    var body: String
    var urgency: Urgency
    /// A category of the Desktop Notifications specification, else one of Vedette's with the prefix `x-vedette`.
    var category: String
    /// The link that the `Open` button opens, as `Browser.link` returns it.
    var link: String?
    /// Nil when there is nothing to silence; then there are no buttons for it.
    var subject: Subject?
    /// A name or a path; nil for Vedette's own icon.
    var icon: String?

    init(key: Key, title: String, body: String, urgency: Urgency = .normal, category: String, link: String? = nil) {
        (self.key, self.title, self.body) = (key, title, body)
        (self.urgency, self.category, self.link) = (urgency, category, link)
    }

    init(_ message: Message) {
        let event = message.event
        func told(of source: String, _ item: String?) -> Subject {
            Subject(rule: message.rule, sink: message.sink, source: source, item: item)
        }
        let itself = told(of: event.source, event.item?.key)
        var subjects = Set((event.summary?.parts ?? []).map { told(of: $0.source, $0.key) })
        if subjects.isEmpty, event.kind != .digest { subjects = [itself] }
        self.init(
            key: Key(subjects, rule: message.rule, group: event.summary?.group),
            title: DesktopNotification.title(of: message) ?? message.title, body: message.text,
            urgency: Urgency(message.priority),
            category: DesktopNotification.category(of: event.kind),
            link: event.item?.url.flatMap(Browser.link))
        if title != message.title { body = message.title + (body.isEmpty ? "" : "\n" + body) }
        self.told = subjects
        if event.kind != .test { subject = itself }
    }

    /// Characters of a title that fit on one line of most desktops.
    static let oneLine = 48

    /// Returns a title that ends with the new value although the name is long: desktops show one line of it. Nil when the
    /// message's own title is short, or ends with something else.
    private static func title(of message: Message) -> String? {
        guard message.title.count > oneLine, let item = message.event.item, message.event.kind == .changed,
            let to = message.change?.to?.description, !to.isEmpty, to.count <= oneLine / 2, message.title.hasSuffix(to)
        else { return nil }
        let name = item.title ?? item.key
        let room = oneLine - to.count - 2
        guard message.title.hasPrefix(name) else { return nil }
        return (name.count > room ? name.prefix(room - 1) + "…" : name) + ": " + to
    }

    private static func category(of kind: Event.Kind) -> String {
        switch kind {
        case .failing, .stale, .suspect, .offline: "network.error"
        default: "x-vedette." + kind.word
        }
    }
}

extension DesktopNotification.Key {
    fileprivate init(_ subjects: Set<DesktopNotification.Subject>, rule: String, group: String?) {
        if subjects.count == 1, let one = subjects.first {
            self = one.item.map { .item(source: one.source, key: $0) } ?? .source(one.source)
        } else {
            let sources = Set(subjects.map(\.source))
            self = .several(rule: rule, source: group == nil && sources.count == 1 ? sources.first : nil, group: group)
        }
    }
}

extension DesktopNotification.Urgency {
    init(_ priority: Priority) {
        self =
            switch priority {
            case .low: .low
            case .normal: .normal
            case .high: .critical
            }
    }
}
