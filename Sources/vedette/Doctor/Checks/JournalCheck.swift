// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The state of the journal: its pages, its sinks and its sources.
struct JournalFacts: Sendable {
    enum IntegrityResult: Sendable, Hashable {
        case sound
        case damaged([String])
        /// The check did not end in time.
        case unknown
    }

    struct PendingCount: Sendable, Hashable {
        var sink: String
        var pending = 0
        var dead = 0
        /// Why the sink is paused, or why its first message was not delivered yet.
        var pause: String?
        var delay: String?
    }

    struct JournalProblem: Sendable, Hashable {
        var source: String
        var problem: String
        var isSuspect = false
    }

    /// A source that its server has moved for good.
    struct Move: Sendable, Hashable {
        var source: String
        var address: String
        /// Of the URL that the server redirects.
        var urlDigest: UInt64?
    }

    var integrity = IntegrityResult.sound
    var lastSeq: Int64 = 0
    var pending: [PendingCount] = []
    var problems: [JournalProblem] = []
    var moves: [Move] = []
    /// Those in force.
    var silences: [Silence] = []

    /// Bound of the whole check: reading every page of a large journal takes long.
    private static let timeout = Duration.seconds(8)

    static func read(_ journal: any JournalAccess, at now: Timestamp) async throws(JournalError) -> JournalFacts {
        let reader = try await journal.reader()
        var facts = JournalFacts()
        facts.lastSeq = try await reader.lastSeq()
        for count in try await reader.sinkCounts() { facts.pending.append(try await pending(count, reader)) }
        let records = try await reader.sourceRecords()
        facts.problems = records.compactMap(JournalProblem.init)
        facts.moves = records.compactMap { record in
            record.movedTo.map { Move(source: record.name, address: $0, urlDigest: record.urlDigest) }
        }
        facts.silences = try await reader.silences().filter { !$0.isOver(at: now) }
        facts.integrity = try await integrity(of: reader)
        return facts
    }

    private static func integrity(of reader: any JournalReader) async throws(JournalError) -> IntegrityResult {
        let damages: Result<[String], JournalError>? = await within(timeout) {
            do throws(JournalError) { return .success(try await reader.damages()) } catch { return .failure(error) }
        }
        guard let found = try damages?.get() else { return .unknown }
        return found.isEmpty ? .sound : .damaged(found)
    }

    private static func pending(_ count: SinkCount, _ reader: any JournalReader) async throws(JournalError)
        -> PendingCount
    {
        var pending = PendingCount(sink: count.sink, pending: count.pending, dead: count.dead)
        func reason(_ state: DeliveryState) async throws(JournalError) -> String? {
            let first = try await reader.deliveries(DeliveryFilter(.only(state), sink: count.sink), after: 0, limit: 1)
                .first
            return first?.delivery.reason
        }
        if count.paused > 0 { pending.pause = try await reason(.paused) }
        if count.retrying > 0 { pending.delay = try await reason(.retry) }
        return pending
    }
}

extension JournalFacts.JournalProblem {
    init?(_ record: SourceRecord) {
        let emptiness = record.snapshot?.emptiness
        let isSuspect = emptiness != nil && emptiness != .accepted
        guard record.health.isFailing || isSuspect else { return nil }
        let problem = record.health.problem.map { "\($0.failure): \($0.detail)" }
        self.init(source: record.name, problem: problem ?? emptiness?.summary ?? "its polls fail", isSuspect: isSuspect)
    }
}

/// Turns the state of the journal into findings. Pure.
struct JournalCheck {
    static let most = 10

    let facts: Result<JournalFacts, JournalError>
    /// The names in the configuration; findings about others are left out.
    let sources: Set<String>
    let sinks: Set<String>
    /// The rules of the configuration; nil when they are unknown.
    var rules: [Rule]?
    /// The digests of the URLs of these sources.
    var addresses: [String: UInt64] = [:]

    var findings: [Finding] {
        let facts: JournalFacts
        do throws(JournalError) {
            facts = try self.facts.get()
        } catch {
            switch error.reason {
            case .missing: return [.ok("journal", "there is none yet; the first run creates it")]
            case .older:
                return [
                    .warning(
                        "journal", "an earlier version wrote it; it was not checked",
                        remedy: "the next `vedette run` brings it up to date")
                ]
            default: return [.failure("journal", error.detail)]
            }
        }
        return integrity(facts) + problems(facts) + moves(facts)
            + facts.pending.filter { sinks.contains($0.sink) }.flatMap(pending)
            + silences(facts.silences)
    }

    private func integrity(_ facts: JournalFacts) -> [Finding] {
        switch facts.integrity {
        case .sound:
            let events = facts.lastSeq == 0 ? "no event yet" : "\(counted(Int(facts.lastSeq), "event")) so far"
            return [.ok("journal", "it opens, its schema is current, and every page is sound; \(events)")]
        case .unknown:
            return [
                .warning(
                    "journal", "it opens; it is too large to be checked in a few seconds",
                    remedy: "vedette journal check")
            ]
        case .damaged(let words):
            return [
                .failure(
                    "journal", "it is damaged: \(words.prefix(2).joined(separator: "; "))",
                    remedy: "stop the watcher, then 'vedette journal repair', or restore a backup")
            ]
        }
    }

    private func problems(_ facts: JournalFacts) -> [Finding] {
        let known = facts.problems.filter { sources.contains($0.source) }
        let suspect = known.filter(\.isSuspect).map { problem in
            Finding.warning(
                "source \(problem.source)", "suspect: \(problem.problem)",
                remedy: "if that is true, `vedette accept \(problem.source)`")
        }
        let failing = known.filter { !$0.isSuspect }.map {
            Finding.failure("source \($0.source)", "fails: \($0.problem)")
        }
        return failing.bounded(to: JournalCheck.most, "sources", remedy: "`vedette status` lists them")
            + suspect.bounded(to: JournalCheck.most, "sources", remedy: "`vedette status` lists them")
    }

    private func moves(_ facts: JournalFacts) -> [Finding] {
        facts.moves.filter { $0.urlDigest != nil && addresses[$0.source] == $0.urlDigest }.map { move in
            Finding.warning(
                "source \(move.source)", "its server has moved it for good to \(move.address)",
                remedy: "write that address into the configuration")
        }.bounded(to: JournalCheck.most, "sources", remedy: "`vedette status` lists them")
    }

    private func silences(_ silences: [Silence]) -> [Finding] {
        guard !silences.isEmpty else { return [] }
        let text = "\(counted(silences.count, "silence")) in force; `vedette silences` lists them"
        guard let rules else { return [.ok("silences", text)] }
        let warnings = silences.compactMap { silence in
            silence.missingName(rules: rules, sources: sources, sinks: sinks).map { name in
                Finding.warning(
                    "silence \(silence.id)", "it is without effect: there is no \(name)",
                    remedy: "vedette silences end \(silence.id)")
            }
        }
        return [.ok("silences", text)]
            + warnings.bounded(to: JournalCheck.most, "silences", remedy: "`vedette silences` lists them")
    }

    private func pending(_ pending: JournalFacts.PendingCount) -> [Finding] {
        let subject = "sink \(pending.sink)"
        var findings: [Finding] = []
        if let pause = pending.pause {
            findings.append(
                .failure(
                    subject, "it is paused, with \(counted(pending.pending, "message")) pending: \(pause)",
                    remedy: "fix that, then `vedette outbox retry --sink \(pending.sink)`"))
        } else if let delay = pending.delay {
            findings.append(
                .warning(subject, "\(counted(pending.pending, "message")) pending, the last attempt failed: \(delay)"))
        }
        if pending.dead > 0 {
            findings.append(
                .warning(
                    subject, "\(counted(pending.dead, "message")) dead",
                    remedy: "`vedette outbox --sink \(pending.sink)` lists the reasons"))
        }
        return findings
    }
}
