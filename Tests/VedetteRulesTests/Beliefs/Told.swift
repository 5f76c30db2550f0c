// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A message, as a receiver understands it.
struct Told {
    enum Kind { case firing, end, reminder }

    struct Part {
        let key: String
        /// The event that began the match; nil where the message does not have it.
        let id: String?
        let isEnd: Bool
        /// Whether the message says that the match is over by now.
        var isOver = false
    }

    let message: Message
    let sink: String
    let kind: Kind
    let parts: [Part]
    /// The step and the time in which it was made.
    let tick: Int
    let time: Int

    /// - Parameter keys: the items of all events.
    init(_ message: Message, to sink: String, tick: Int, time: Int, keys: [String: String]) {
        (self.message, self.sink, self.tick, self.time) = (message, sink, tick, time)
        let event = message.event
        let (item, summary) = (event.item?.key, event.summary)
        let listed = summary?.parts ?? []
        switch event.kind {
        case .resolved: kind = .end
        case .reminder: kind = .reminder
        default: kind = .firing
        }
        // An event that the engine made names no match that a model could know.
        func known(_ id: String?) -> String? { id.flatMap { keys[$0] == nil ? nil : $0 } }
        let isReminder = kind == .reminder
        // A log lists what happened: of a match without an event of its own nobody knows whether it is the present one. Its
        // title names no line.
        let isLog = event.kind == .digest && summary?.title?.hasPrefix(summary?.lines.first ?? "") != true
        var parts = listed.filter { !isLog || known($0.event) != nil }.compactMap { part in
            part.key.map { key in
                Part(
                    key: key, id: isReminder ? nil : known(part.event), isEnd: part.kind == Event.Kind.resolved.word,
                    isOver: part.isOver)
            }
        }
        if listed.isEmpty, let item {
            let id = event.kind == .resolved ? summary?.events.first : isReminder ? nil : event.id.description
            parts = [Part(key: item, id: known(id), isEnd: kind == .end)]
        } else if listed.isEmpty || listed.contains(where: { $0.kind == Event.Kind.digest.word }) {
            let shown = Set(parts.compactMap(\.id))
            parts += (summary?.events ?? []).filter { !shown.contains($0) }.compactMap { id in
                keys[id].map { Part(key: $0, id: id, isEnd: false) }
            }
        }
        self.parts = parts
    }

    private init(_ other: Told, to sink: String) {
        (message, kind, parts) = (other.message, other.kind, other.parts)
        (tick, time) = (other.tick, other.time)
        self.sink = sink
    }

    /// Returns the same for another sink.
    func forwarded(to sink: String) -> Told { Told(self, to: sink) }
}
