// SPDX-License-Identifier: Apache-2.0

// Digests use all 64 bits and are stored as the signed number of the same bits.

extension SourceRecord {
    /// The whole record as a journal stores it: JSON text.
    public var bytes: [UInt8] {
        var writer = JSONObjectWriter()
        if let snapshot { writer.object("snapshot", snapshot.write) }
        writer.object("health", health.write)
        writer.member("due", due?.milliseconds)
        writer.member("interval", intervalDigest.map(Int64.init(bitPattern:)))
        writer.member("not_before", notBefore?.milliseconds)
        writer.member("url", urlDigest.map(Int64.init(bitPattern:)))
        if let connection { writer.object("connection", connection.write) }
        writer.member("moved_to", movedTo)
        return writer.finished()
    }

    /// Reads a stored record; members that are unknown or missing are as in a new one.
    public init(name: String, json: JSON) {
        self.init(name: name)
        snapshot = json["snapshot"].flatMap(SnapshotHead.init(json:))
        health = Health(json: json["health"])
        due = Timestamp(json: json["due"])
        intervalDigest = json["interval"]?.bits
        notBefore = Timestamp(json: json["not_before"])
        urlDigest = json["url"]?.bits
        connection = json["connection"].flatMap(Connection.init(json:))
        movedTo = json["moved_to"]?.string
    }
}

extension SourceRecord.Connection {
    fileprivate func write(to writer: inout JSONObjectWriter) {
        switch self {
        case .open: writer.member("open", true)
        case .polled(let reason): writer.member("polled", reason)
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
    fileprivate func write(to writer: inout JSONObjectWriter) {
        writer.member("identity", Int64(bitPattern: identity))
        writer.numbers("fingerprints", fingerprints.lazy.map { ($0.key, Int64(bitPattern: $0.value)) })
        writer.member("etag", validators.etag)
        writer.member("last_modified", validators.lastModified)
        writer.member("digest", digest.map(Int64.init(bitPattern:)))
        writer.member("asked", asked.map(Int64.init(bitPattern:)))
        writer.member("good_at", goodAt.milliseconds)
        writer.member("count", Int64(count))
        writer.member("pending_absences", Int64(pendingAbsences))
        writer.member("whole", isWhole)
        if hasOtherKeys { writer.member("other_keys", true) }
        writer.member("resume", resume)
        if let resumeForm { writer.member("resume_form", Int64(bitPattern: resumeForm)) }
        if hasEndTag { writer.member("end_tag", true) }
        writer.member("warning", warning)
        writer.member("newest", newest?.milliseconds)
        writer.member("oldest", oldest?.milliseconds)
        writer.member("oldest_publication", oldestPublication?.milliseconds)
        if !decimals.signs.isEmpty { writer.texts("decimals", decimals.signs.mapValues(String.init)) }
        if order != WindowOrder() {
            writer.object("order") { writer in
                writer.member("direction", Int64(order.direction))
                writer.member("front", order.front.map(Identifier.hex).joined(separator: " "))
            }
        }
        if !sharedKeys.digests.isEmpty {
            writer.object("shared_keys") { writer in
                writer.member("digests", sharedKeys.digests.sorted().map(Identifier.hex).joined(separator: " "))
                writer.member("last", sharedKeys.last)
            }
        }
        if let unannounced {
            writer.object("unannounced") { writer in
                writer.member("count", Int64(unannounced.count))
                writer.member("last", unannounced.last)
                writer.member("at", unannounced.at.milliseconds)
                if unannounced.isUndated { writer.member("undated", true) }
            }
        }
        if let emptiness {
            writer.object("emptiness") { writer in
                writer.member("polls", Int64(emptiness.polls))
                writer.member("since", emptiness.since.milliseconds)
                if emptiness.isReplaced { writer.member("replaced", true) }
            }
        }
        writer.numbers("states", states.lazy.map { ($0.key, Int64($0.value)) })
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
        resumeForm = json["resume_form"]?.bits
        hasEndTag = json["end_tag"] == .bool(true)
        warning = json["warning"]?.string
        decimals = DecimalSigns(json: json["decimals"])
        newest = Timestamp(json: json["newest"])
        oldest = Timestamp(json: json["oldest"])
        oldestPublication = Timestamp(json: json["oldest_publication"])
        order.direction = json["order"]?["direction"]?.int ?? 0
        order.front = SnapshotHead.digests(json["order"]?["front"])
        sharedKeys.digests = Set(SnapshotHead.digests(json["shared_keys"]?["digests"]))
        sharedKeys.last = json["shared_keys"]?["last"]?.string
        unannounced = json["unannounced"].flatMap { json in
            guard let count = json["count"]?.int, let last = json["last"]?.string, let at = Timestamp(json: json["at"])
            else { return nil }
            return Unannounced(count: count, last: last, at: at, isUndated: json["undated"] == .bool(true))
        }
        emptiness = json["emptiness"].flatMap { json in
            guard let polls = json["polls"]?.int, let since = Timestamp(json: json["since"]) else { return nil }
            return Emptiness(polls: polls, since: since, isReplaced: json["replaced"] == .bool(true))
        }
        let states = (json["states"]?.members ?? []).compactMap { member in
            member.value.int.map { (member.name, $0) }
        }
        self.states = Dictionary(states) { $1 }
    }

    private static func digests(_ json: JSON?) -> [UInt64] {
        (json?.string ?? "").split(separator: " ").compactMap { UInt64($0, radix: 16) }
    }
}

extension Health {
    fileprivate func write(to writer: inout JSONObjectWriter) {
        writer.member("failures", Int64(failures))
        writer.member("failing", isFailing)
        writer.member("stale", isStale)
        writer.member("failing_since", failingSince?.milliseconds)
        writer.member("last_poll", lastPollAt?.milliseconds)
        writer.member("failure", problem?.failure)
        writer.member("detail", problem?.detail)
        if isUnreadable { writer.member("unreadable", true) }
        if let doubtedSince { writer.member("doubted_since", doubtedSince.milliseconds) }
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
        isUnreadable = json?["unreadable"] == .bool(true)
        doubtedSince = Timestamp(json: json?["doubted_since"])
    }
}

extension Timestamp {
    fileprivate init?(json: JSON?) {
        guard let milliseconds = json?.int64 else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

extension JSON {
    fileprivate var bits: UInt64? { int64.map(UInt64.init(bitPattern:)) }

    fileprivate var int: Int? { int64.map(Int.init) }
}
