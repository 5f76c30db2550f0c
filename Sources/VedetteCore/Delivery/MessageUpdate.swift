// SPDX-License-Identifier: Apache-2.0

/// Which earlier message a later one takes the place of, where a receiver can change what it has.
extension Message {
    /// The most earlier messages of its rule that are looked at, and of older ones the most about its subject or about several.
    public static let maximumEarlier = 100

    /// Whether it may take the place of an earlier message. A new match is a new message: a changed one makes no sound.
    public var isFollowUp: Bool {
        let parts = event.summary?.parts ?? []
        guard !parts.isEmpty else { return event.kind == .reminder || event.isEnd }
        return parts.allSatisfy { $0.kind == Event.Kind.reminder.word || $0.announcesEnd }
    }

    /// Returns the receiver's name of the message whose place this one takes: the last that told a match of which this one tells.
    /// Nil where there is none, or where one of its matches would be told nowhere any more.
    /// - Parameter earlier: the sent messages of the rule to the sink, the newest first.
    public func replaced(among earlier: [Delivery]) -> String? {
        let mine = Set(told.keys)
        var since: Set<Subject> = []
        for delivery in earlier {
            let told = delivery.message.told
            let going = Set(told.filter(\.value).keys).subtracting(since)
            guard going.isDisjoint(with: mine) else {
                // Beyond so many parts it tells of others that it does not name.
                let isWhole = delivery.message.event.summary?.parts.count ?? 0 < MessageLimits.parts
                return isWhole && going.isSubset(of: mine) ? delivery.receiverID : nil
            }
            since.formUnion(told.keys)
        }
        return nil
    }

    /// The subjects that it tells of, and whether their matches go on.
    var told: [Subject: Bool] {
        let parts = event.summary?.parts ?? []
        guard !parts.isEmpty else { return event.kind == .digest ? [:] : [Subject(event): !event.isEnd] }
        let ones = parts.map { (Subject(source: $0.source, key: $0.key), !$0.isOver && !$0.announcesEnd) }
        return Dictionary(ones, uniquingKeysWith: { $1 })
    }
}
