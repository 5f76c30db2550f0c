// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The content of a notification, independent of the daemon's capabilities.
struct DesktopNotification: Sendable, Hashable {
    /// A notification replaces the previous one of the same key, in place.
    enum Key: Sendable, Hashable {
        case item(source: String, key: String)
        case source(String)
        /// The summary of missed messages.
        case missed
    }

    enum Urgency: UInt8, Sendable, Hashable { case low, normal, critical }

    /// Its raw value is the action's key on the bus.
    enum Button: String, Sendable, Hashable {
        case open, snooze, mute
        case muteEverywhere = "mute-everywhere"

        var label: String {
            switch self {
            case .open: "Open"
            case .snooze: "Snooze 1 h"
            case .mute: "Mute here"
            case .muteEverywhere: "Mute everywhere"
            }
        }
    }

    /// The subject of `Snooze 1 h` and of both buttons that mute a rule.
    struct Subject: Sendable, Hashable {
        var rule: String
        /// The sink that shows the notification: `Mute here` silences no other.
        var sink: String
        var source: String
        /// The item's key.
        var item: String?
    }

    var key: Key
    var title: String
    var body: String
    var urgency: Urgency
    /// A category of the Desktop Notifications specification, else one of Vedette's with the prefix `x-vedette`.
    var category: String
    /// The link that the `Open` button opens, as `webLink` returns it.
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
        self.init(
            key: event.item.map { .item(source: event.source, key: $0.key) } ?? .source(event.source),
            title: DesktopNotification.title(of: message) ?? message.title, body: message.text,
            urgency: Urgency(message.priority),
            category: DesktopNotification.category(of: event.kind),
            link: event.item?.url.flatMap(DesktopNotification.webLink))
        if title != message.title { body = message.title + (body.isEmpty ? "" : "\n" + body) }
        if event.kind != .test {
            subject = Subject(rule: message.rule, sink: message.sink, source: event.source, item: event.item?.key)
        }
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

    var buttons: [Button] { (link == nil ? [] : [.open]) + (subject == nil ? [] : [.snooze, .mute, .muteEverywhere]) }

    /// Returns the silence that a press of the button creates; nil for `Open`.
    func silence(by button: Button, at now: Timestamp) -> Silence? {
        guard let subject else { return nil }
        switch button {
        case .open: return nil
        case .snooze:
            return Silence(
                rule: subject.rule, source: subject.source, item: subject.item,
                until: now.advanced(by: .seconds(3600)), created: now)
        case .mute: return Silence(rule: subject.rule, sink: subject.sink, created: now)
        case .muteEverywhere: return Silence(rule: subject.rule, created: now)
        }
    }

    /// Returns the URL in a form that a browser opens and that nothing on the way expands: `$` and braces (systemd-run),
    /// quotes, blanks, controls and everything outside ASCII are percent-encoded, and escapes are kept. Returns nil for
    /// anything but http and https: another scheme could start a program of a stranger's choice.
    static func webLink(_ url: String) -> String? {
        let bytes = Array(url.utf8)
        var link = ""
        for (i, byte) in bytes.enumerated() {
            let isEscape = byte == UInt8(ascii: "%") && bytes[(i + 1)...].prefix(2).count(where: isHexDigit) == 2
            if isEscape || plain.contains(byte) {
                link.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                link += WebURL.encoded(byte)
            }
        }
        return link.utf8.count <= 8192 ? WebURL(link)?.text : nil
    }

    /// Characters of a URL that are kept: RFC 3986 §2.2 and §2.3 without `$` and `'`.
    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!&()*+,;=".utf8)

    private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

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
