// SPDX-License-Identifier: Apache-2.0

// Digests use all 64 bits and are stored as the signed number of the same bits.

extension SourceRecord {
    /// The whole record as a journal stores it.
    public var json: JSON {
        .members([
            "snapshot": snapshot?.json,
            "health": health.json,
            "due": due?.json,
            "not_before": notBefore?.json,
            "url": urlDigest.map(JSON.bits),
            "connection": connection?.json,
        ])
    }

    /// Reads a stored record; members that are unknown or missing are as in a new one.
    public init(name: String, json: JSON) {
        self.init(name: name)
        snapshot = json["snapshot"].flatMap(SnapshotHead.init(json:))
        health = Health(json: json["health"])
        due = Timestamp(json: json["due"])
        notBefore = Timestamp(json: json["not_before"])
        urlDigest = json["url"]?.bits
        connection = json["connection"].flatMap(Connection.init(json:))
    }
}

extension SourceRecord.Connection {
    fileprivate var json: JSON {
        switch self {
        case .open: .members(["open": .bool(true)])
        case .polled(let reason): .members(["polled": .string(reason)])
        }
    }

    fileprivate init?(json: JSON) {
        if json["open"] == .bool(true) {
            self = .open
        } else if let reason = json["polled"]?.string {
            self = .polled(reason)
        } else {
            return nil
        }
    }
}

extension SnapshotHead {
    fileprivate var json: JSON {
        .members([
            "identity": .bits(identity),
            "fingerprints": .object(
                fingerprints.sorted { $0.key < $1.key }.map { JSON.Member(name: $0.key, value: .bits($0.value)) }),
            "etag": validators.etag.map(JSON.string),
            "last_modified": validators.lastModified.map(JSON.string),
            "digest": digest.map(JSON.bits),
            "asked": asked.map(JSON.bits),
            "good_at": goodAt.json,
            "count": .number(count),
            "pending_absences": .number(pendingAbsences),
            "whole": .bool(isWhole),
            "other_keys": hasOtherKeys ? .bool(true) : nil,
            "resume": resume.map(JSON.string),
            "newest": newest?.json,
            "oldest": oldest?.json,
            "unannounced": unannounced.map {
                .members(["count": .number($0.count), "last": .string($0.last), "at": $0.at.json])
            },
            "emptiness": emptiness.map { .members(["polls": .number($0.polls), "since": $0.since.json]) },
            "states": .object(
                states.sorted { $0.key < $1.key }.map { JSON.Member(name: $0.key, value: .number($0.value)) }),
        ])
    }

    fileprivate init?(json: JSON) {
        guard let identity = json["identity"]?.bits, let goodAt = Timestamp(json: json["good_at"]) else { return nil }
        let fingerprints = (json["fingerprints"]?.members ?? []).compactMap { member in
            member.value.bits.map { (member.name, $0) }
        }
        self.init(
            identity: identity, fingerprints: Dictionary(fingerprints) { $1 }, goodAt: goodAt)
        validators = Validators(etag: json["etag"]?.string, lastModified: json["last_modified"]?.string)
        digest = json["digest"]?.bits
        asked = json["asked"]?.bits
        count = json["count"]?.int ?? 0
        pendingAbsences = json["pending_absences"]?.int ?? 0
        isWhole = json["whole"] == .bool(true)
        hasOtherKeys = json["other_keys"] == .bool(true)
        resume = json["resume"]?.string
        newest = Timestamp(json: json["newest"])
        oldest = Timestamp(json: json["oldest"])
        unannounced = json["unannounced"].flatMap { json in
            guard let count = json["count"]?.int, let last = json["last"]?.string, let at = Timestamp(json: json["at"])
            else { return nil }
            return Unannounced(count: count, last: last, at: at)
        }
        emptiness = json["emptiness"].flatMap { json in
            guard let polls = json["polls"]?.int, let since = Timestamp(json: json["since"]) else { return nil }
            return Emptiness(polls: polls, since: since)
        }
        let states = (json["states"]?.members ?? []).compactMap { member in
            member.value.int.map { (member.name, $0) }
        }
        self.states = Dictionary(states) { $1 }
    }
}

extension Health {
    fileprivate var json: JSON {
        .members([
            "failures": .number(failures),
            "failing": .bool(isFailing),
            "stale": .bool(isStale),
            "failing_since": failingSince?.json,
            "last_poll": lastPollAt?.json,
            "failure": problem.map { .string($0.failure) },
            "detail": problem.map { .string($0.detail) },
        ])
    }

    fileprivate init(json: JSON?) {
        self.init()
        failures = json?["failures"]?.int ?? 0
        isFailing = json?["failing"] == .bool(true)
        isStale = json?["stale"] == .bool(true)
        failingSince = Timestamp(json: json?["failing_since"])
        lastPollAt = Timestamp(json: json?["last_poll"])
        problem = json?["failure"]?.string.map {
            Event.Problem(failure: $0, detail: json?["detail"]?.string ?? "")
        }
    }
}

extension Timestamp {
    fileprivate var json: JSON { .number(milliseconds) }

    fileprivate init?(json: JSON?) {
        guard let milliseconds = json?.int64 else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

extension JSON {
    fileprivate static func bits(_ digest: UInt64) -> JSON { .number(Int64(bitPattern: digest)) }

    fileprivate var bits: UInt64? { int64.map(UInt64.init(bitPattern:)) }

    fileprivate var int: Int? { int64.map(Int.init) }
}
