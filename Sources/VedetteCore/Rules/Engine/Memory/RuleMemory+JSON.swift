// SPDX-License-Identifier: Apache-2.0

extension RuleMemory {
    /// The row's body in the journal.
    public var json: JSON {
        .members([
            "identity": .string(Identifier.hex(identity)),
            "event": event?.json,
            "due": due.map(JSON.time),
            "civil": JSON.flag(isCivil),
            "since": .time(since),
            "count": count == 0 ? nil : .number(count),
            "replaced": replaced == 0 ? nil : .number(replaced),
            "times": times.isEmpty ? nil : .array(times.map(\.json)),
            "uncounted": uncounted.isEmpty ? nil : JSON.numbers(uncounted),
            "lines": JSON.texts(lines),
            "links": links.allSatisfy(\.isEmpty) ? nil : JSON.texts(links),
            "events": JSON.texts(events),
            "parts": parts.isEmpty ? nil : .array(parts.map(\.json)),
            "sinks": JSON.texts(sinks),
            "values": JSON.texts(values),
            "audience": audience == 0 ? nil : .number(audience),
            "group": group.isEmpty ? nil : .string(group),
            "standing": JSON.flag(isStanding),
            "held": held?.json,
            "waits": waits.isEmpty ? nil : .array(waits.map(\.json)),
            "listings": listings.isEmpty ? nil : .array(listings.map(\.json)),
            "told": told?.json,
        ])
    }

    /// Reads a row's body; returns nil when this program did not write it.
    public init?(key: Key, json: JSON) {
        guard let identity = json["identity"]?.string.flatMap({ UInt64($0, radix: 16) }),
            let since = json["since"]?.time
        else { return nil }
        self.init(key: key, identity: identity, since: since)
        event = json["event"].flatMap(Event.init(json:))
        due = json["due"]?.time
        isCivil = json["civil"] == .bool(true)
        count = json["count"]?.int64.map(Int.init) ?? 0
        replaced = json["replaced"]?.int64.map(Int.init) ?? 0
        times = json["times"]?.array?.compactMap(Sent.init(json:)) ?? []
        for member in json["uncounted"]?.members ?? [] { uncounted[member.name] = member.value.int64.map(Int.init) }
        (lines, links) = (json["lines"]?.texts ?? [], json["links"]?.texts ?? [])
        events = json["events"]?.texts ?? []
        parts = json["parts"]?.array?.compactMap(Event.Summary.Part.init(json:)) ?? []
        sinks = json["sinks"]?.texts ?? []
        values = json["values"]?.texts ?? []
        audience = json["audience"]?.int64.map(Int.init) ?? 0
        group = json["group"]?.string ?? ""
        isStanding = json["standing"] == .bool(true)
        held = json["held"].flatMap(Held.init(json:))
        waits = json["waits"]?.array?.compactMap(Wait.init(json:)) ?? []
        listings = json["listings"]?.array?.compactMap(Listing.init(json:)) ?? []
        told = json["told"].flatMap(Told.init(json:))
    }
}

extension RuleMemory.Sent {
    fileprivate var json: JSON {
        guard !sinks.isEmpty || count > 1 else { return .time(time) }
        return .members([
            "at": .time(time), "sinks": JSON.texts(sinks.sorted()), "end": JSON.flag(isEnd),
            "count": count == 1 ? nil : .number(count),
        ])
    }

    fileprivate init?(json: JSON) {
        guard let time = json.time ?? json["at"]?.time else { return nil }
        self.init(time: time, sinks: Set(json["sinks"]?.texts ?? []), isEnd: json["end"] == JSON.bool(true))
        count = json["count"]?.int64.map(Int.init) ?? 1
    }
}

extension RuleMemory.Held {
    fileprivate var json: JSON {
        .members(["event": event.json, "due": .time(due), "since": .time(since), "wall": wallDue.map(JSON.time)])
    }

    fileprivate init?(json: JSON) {
        guard let event = json["event"].flatMap(Event.init(json:)), let due = json["due"]?.time,
            let since = json["since"]?.time
        else { return nil }
        self.init(event: event, due: due, since: since, wallDue: json["wall"]?.time)
    }
}

extension RuleMemory.Wait {
    fileprivate var json: JSON {
        .members([
            "sink": .string(sink),
            "tell": .string(content.rawValue),
            "gate": .string(gate),
            "group": group.isEmpty ? nil : .string(group),
            "until": until.map(JSON.time),
            "civil": JSON.flag(isCivil),
            "reason": reason.isEmpty ? nil : .string(reason),
            "count": count == 0 ? nil : .number(count),
            "unconfirmed": JSON.flag(awaitsPoll),
            "listed": JSON.flag(isListed),
            "claim": claim.isEmpty ? nil : .string(claim),
        ])
    }

    fileprivate init?(json: JSON) {
        guard let sink = json["sink"]?.string, let content = json["tell"]?.string.flatMap(Content.init(rawValue:))
        else {
            return nil
        }
        self.init(content, sink)
        gate = json["gate"]?.string ?? ""
        group = json["group"]?.string ?? ""
        until = json["until"]?.time
        isCivil = json["civil"] == .bool(true)
        reason = json["reason"]?.string ?? ""
        count = json["count"]?.int64.map(Int.init) ?? 0
        awaitsPoll = json["unconfirmed"] == .bool(true)
        isListed = json["listed"] == .bool(true)
        claim = json["claim"]?.string ?? ""
    }
}

extension RuleMemory.Listing {
    fileprivate var json: JSON {
        let texts = JSON.array(([sink, group, match] + [value].compactMap { $0 }).map(JSON.string))
        return groups.isEmpty ? texts : .members(["listing": texts, "groups": JSON.strings(groups)])
    }

    fileprivate init?(json: JSON) {
        guard let texts = json.texts ?? json["listing"]?.texts, texts.count >= 3 else { return nil }
        self.init(sink: texts[0], group: texts[1], match: texts[2], value: texts.count > 3 ? texts[3] : nil)
        for member in json["groups"]?.members ?? [] { groups[member.name] = member.value.string }
    }
}

extension RuleMemory.Told {
    fileprivate var json: JSON {
        .members([
            "event": event.json,
            "latest": latest?.json,
            "value": value.map(JSON.string),
            "earlier": earlierValues.isEmpty ? nil : JSON.strings(earlierValues),
            "groups": groups.isEmpty ? nil : JSON.strings(groups),
            "since": .time(since),
            "sinks": JSON.texts(sinks),
            "end": JSON.flag(tellsEnd),
            "recipients": recipients == 0 ? nil : .number(recipients),
            "ended": ended.map(JSON.time),
            "over": JSON.flag(isEndReleased),
            "due": due.map(JSON.time),
            "civil": JSON.flag(isCivil),
            "gate": gate.isEmpty ? nil : .string(gate),
            "reminded": lastMessages.isEmpty ? nil : JSON.times(lastMessages),
            "acknowledged": acknowledgement?.json,
            "step": step == 0 ? nil : .number(step),
        ])
    }

    fileprivate init?(json: JSON) {
        guard let event = json["event"].flatMap(Event.init(json:)), let since = json["since"]?.time else { return nil }
        self.init(event: event, since: since)
        latest = json["latest"].flatMap(Event.init(json:))
        value = json["value"]?.string
        for member in json["earlier"]?.members ?? [] { earlierValues[member.name] = member.value.string }
        for member in json["groups"]?.members ?? [] { groups[member.name] = member.value.string }
        sinks = json["sinks"]?.texts ?? []
        tellsEnd = json["end"] == .bool(true)
        recipients = json["recipients"]?.int64.map(Int.init) ?? 0
        ended = json["ended"]?.time
        isEndReleased = json["over"] == .bool(true)
        due = json["due"]?.time
        isCivil = json["civil"] == .bool(true)
        gate = json["gate"]?.string ?? ""
        for member in json["reminded"]?.members ?? [] { lastMessages[member.name] = member.value.time }
        acknowledgement = json["acknowledged"].flatMap(Acknowledgement.init(json:))
        step = json["step"]?.int64.map(Int.init) ?? 0
    }
}

extension JSON {
    fileprivate static func time(_ time: Timestamp) -> JSON { .number(time.milliseconds) }
    /// Only what is true is written.
    fileprivate static func flag(_ flag: Bool) -> JSON? { flag ? .bool(true) : nil }
    fileprivate static func texts(_ texts: [String]) -> JSON? { texts.isEmpty ? nil : .array(texts.map(JSON.string)) }

    fileprivate static func numbers(_ numbers: [String: Int]) -> JSON {
        .object(numbers.sorted { $0.key < $1.key }.map { JSON.Member(name: $0.key, value: .number($0.value)) })
    }

    fileprivate static func times(_ times: [String: Timestamp]) -> JSON {
        .object(times.sorted { $0.key < $1.key }.map { JSON.Member(name: $0.key, value: .time($0.value)) })
    }

    fileprivate static func strings(_ texts: [String: String]) -> JSON {
        .object(texts.sorted { $0.key < $1.key }.map { JSON.Member(name: $0.key, value: .string($0.value)) })
    }

    fileprivate var time: Timestamp? { int64.map(Timestamp.init(milliseconds:)) }
    fileprivate var texts: [String]? { array?.compactMap(\.string) }
}
