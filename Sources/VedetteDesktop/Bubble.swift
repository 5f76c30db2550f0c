// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What a bubble shows, before the daemon's capabilities are known.
struct Bubble: Sendable, Hashable {
    /// A bubble of the same key replaces the one before, in place.
    enum Key: Sendable, Hashable {
        case item(source: String, key: String)
        case source(String)
        /// What nobody could be shown for long.
        case missed
    }

    enum Urgency: UInt8, Sendable, Hashable { case low, normal, critical }

    var key: Key
    var title: String
    var body: String
    var urgency: Urgency
    /// A name of the Desktop Notifications specification, else one of ours behind `x-vedette`.
    var category: String
    /// What the `Open` button opens; http or https.
    var link: String?

    init(
        key: Key, title: String, body: String, urgency: Urgency = .normal, category: String, link: String? = nil
    ) {
        (self.key, self.title, self.body) = (key, title, body)
        (self.urgency, self.category, self.link) = (urgency, category, link)
    }

    init(_ message: Message) {
        let event = message.event
        self.init(
            key: event.item.map { .item(source: event.source, key: $0.key) } ?? .source(event.source),
            title: message.title, body: message.text, urgency: Urgency(message.priority),
            category: Bubble.category(of: event.kind), link: event.item?.url.flatMap(Bubble.webLink))
    }

    /// The URL, if it is one that a browser opens and that no command line misreads: anything else of a stranger's (`file:`, `-x`,
    /// a custom scheme) would start programs of their choice.
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

extension Bubble.Urgency {
    init(_ priority: Priority) {
        self =
            switch priority {
            case .low: .low
            case .normal: .normal
            case .high: .critical
            }
    }
}
