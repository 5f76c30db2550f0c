// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What a bubble shows, before the daemon's capabilities are known.
struct DesktopNotification: Sendable, Hashable {
    /// A bubble of the same key replaces the one before, in place.
    enum Key: Sendable, Hashable {
        case item(source: String, key: String)
        case source(String)
        /// What nobody could be shown for long.
        case missed
    }

    enum Urgency: UInt8, Sendable, Hashable { case low, normal, critical }

    /// Its raw value is the action's key on the bus.
    enum Button: String, Sendable, Hashable {
        case open, snooze, mute

        var label: String {
            switch self {
            case .open: "Open"
            case .snooze: "Snooze 1 h"
            case .mute: "Mute rule"
            }
        }
    }

    /// What `Snooze 1 h` and `Mute rule` are about.
    struct Subject: Sendable, Hashable {
        var rule: String
        var source: String
        /// The item's key.
        var item: String?
    }

    var key: Key
    var title: String
    var body: String
    var urgency: Urgency
    /// A name of the Desktop Notifications specification, else one of ours behind `x-vedette`.
    var category: String
    /// What the `Open` button opens; http or https.
    var link: String?
    /// nil where there is nothing to silence: such a bubble has no button for it.
    var subject: Subject?
    /// Name or path; nil for Vedette's own.
    var icon: String?

    init(key: Key, title: String, body: String, urgency: Urgency = .normal, category: String, link: String? = nil) {
        (self.key, self.title, self.body) = (key, title, body)
        (self.urgency, self.category, self.link) = (urgency, category, link)
    }

    init(_ message: Message) {
        let event = message.event
        self.init(
            key: event.item.map { .item(source: event.source, key: $0.key) } ?? .source(event.source),
            title: message.title, body: message.text, urgency: Urgency(message.priority),
            category: DesktopNotification.category(of: event.kind),
            link: event.item?.url.flatMap(DesktopNotification.webLink))
        if event.kind != .test {
            subject = Subject(rule: message.rule, source: event.source, item: event.item?.key)
        }
    }

    var buttons: [Button] { (link == nil ? [] : [.open]) + (subject == nil ? [] : [.snooze, .mute]) }

    /// What a press of the button at that time asks not to hear of.
    func silence(by button: Button, at now: Timestamp) -> Silence? {
        guard let subject else { return nil }
        switch button {
        case .open: return nil
        case .snooze:
            return Silence(
                rule: subject.rule, source: subject.source, item: subject.item,
                until: now.advanced(by: .seconds(3600)), created: now)
        case .mute: return Silence(rule: subject.rule, created: now)
        }
    }

    /// The URL, if it is one that a browser opens and that no command line misreads: anything else of a stranger's
    /// (`file:`, `-x`, a custom scheme) would start programs of their choice.
    static func webLink(_ url: String) -> String? {
        let lower = url.lowercased()
        guard lower.hasPrefix("https://") || lower.hasPrefix("http://"), url.utf8.count <= 8192,
            url.unicodeScalars.allSatisfy({ $0.value > 32 && $0.properties.generalCategory != .control })
        else { return nil }
        return url
    }

    private static func category(of kind: Event.Kind) -> String {
        switch kind {
        case .failing, .stale, .suspect, .offline: "network.error"
        default: "x-vedette." + kind.word
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
