// SPDX-License-Identifier: Apache-2.0

/// What a person says of a match that is true: somebody works on it. There are no reminders and no escalations of it until it
/// changes.
public struct Acknowledgement: Sendable, Hashable {
    /// The id of the event that began the match.
    public var match: String
    /// The user name; empty where nobody has logged in.
    public var user: String
    /// The machine, or `the page`.
    public var host: String
    /// What the person adds; nil for nothing.
    public var note: String?
    /// When, on the wall clock.
    public var time: Timestamp

    /// Creates an acknowledgement.
    public init(match: String, user: String, host: String, note: String? = nil, time: Timestamp) {
        (self.match, self.user, self.host) = (match, String(user.prefix(100)), host)
        (self.note, self.time) = (note.map { String($0.prefix(500)) }, time)
    }

    /// `by anna 5 min ago: the disk is being replaced`.
    public func text(at now: Timestamp) -> String {
        let age = DurationText.long(seconds: max(0, now.seconds(since: time)))
        return (user.isEmpty ? "on \(host)" : "by \(user)") + " \(age) ago" + remark
    }

    /// `by anna on desk at 2026-11-21T02:00:00.000Z: the disk is being replaced`, for reasons.
    public var description: String {
        "\(user.isEmpty ? "" : "by \(user) ")on \(host) at \(time.rfc3339)" + remark
    }

    /// What the usual text of a message says of it; another match was not acknowledged itself.
    func remark(in event: Event, at now: Timestamp) -> String {
        let isOther = !event.isEnd && event.id.description != match
        return "\(isOther ? "before: " : "")acknowledged \(text(at: now))"
    }

    private var remark: String { note.map { ": \($0)" } ?? "" }
}

extension Acknowledgement {
    /// The acknowledgement as journals and messages have it.
    public var json: JSON {
        .members([
            "match": .string(match), "by": user.isEmpty ? nil : .string(user), "host": .string(host),
            "note": note.map(JSON.string), "at": .string(time.rfc3339),
        ])
    }

    /// Reads it from its JSON; returns nil when it is none.
    public init?(json: JSON) {
        guard let match = json["match"]?.string, let host = json["host"]?.string,
            let time = json["at"]?.string.flatMap({ Timestamp(rfc3339: $0) })
        else { return nil }
        self.init(
            match: match, user: json["by"]?.string ?? "", host: host, note: json["note"]?.string, time: time)
    }
}
