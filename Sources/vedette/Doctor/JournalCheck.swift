// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteJournal

/// What the journal says, of itself and of what it owes.
struct JournalFacts: Sendable {
    enum IntegrityResult: Sendable, Hashable {
        case sound
        case damaged([String])
        /// Not read to its end in time.
        case unknown
    }

    struct PendingCount: Sendable, Hashable {
        var sink: String
        var pending = 0
        var dead = 0
        /// Why the sink rests, or why the first was not delivered.
        var pause: String?
        var delay: String?
    }

    struct JournalProblem: Sendable, Hashable {
        var source: String
        var problem: String
        var isSuspect = false
    }

    var soundness = IntegrityResult.sound
    var lastSeq: Int64 = 0
    var pending: [PendingCount] = []
    var troubles: [JournalProblem] = []
    var silences = 0

    /// Reading every page of a large file takes long.
    private static let patience = Duration.seconds(8)

    static func read(_ directory: String, at now: Timestamp) async throws(JournalError) -> JournalFacts {
        let reader = try JournalReader.open(directory: directory)
        var facts = JournalFacts()
        facts.lastSeq = try await reader.lastSeq()
        for count in try await reader.sinkCounts() { facts.pending.append(try await pending(count, reader)) }
        facts.troubles = try await reader.sourceRecords().compactMap(JournalProblem.init)
        facts.silences = try await reader.silences().filter { !$0.isOver(at: now) }.count
        facts.soundness = try await soundness(of: reader)
        return facts
    }

    private static func soundness(of reader: JournalReader) async throws(JournalError) -> IntegrityResult {
        let damages: Result<[String], JournalError>? = await within(patience) {
            do throws(JournalError) { return .success(try await reader.damages()) } catch { return .failure(error) }
        }
        guard let found = try damages?.get() else { return .unknown }
        return found.isEmpty ? .sound : .damaged(found)
    }

    private static func pending(_ count: SinkCount, _ reader: JournalReader) async throws(JournalError) -> PendingCount
    {
        var pending = PendingCount(sink: count.sink, pending: count.pending, dead: count.dead)
        guard count.pending > 0 else { return pending }
        func reason(_ state: DeliveryState) async throws(JournalError) -> String? {
            let first = try await reader.deliveries(DeliveryFilter(state: state, sink: count.sink), limit: 1).first
            return first?.delivery.reason
        }
        pending.pause = try await reason(.paused)
        pending.delay = try await reason(.retry)
        return pending
    }
}

extension JournalFacts.JournalProblem {
    init?(_ record: SourceRecord) {
        let emptiness = record.snapshot?.emptiness
        let isSuspect = emptiness != nil && emptiness != .accepted
        guard record.health.isFailing || isSuspect else { return nil }
        let problem = record.health.problem.map { "\($0.failure): \($0.detail)" }
        self.init(source: record.name, problem: problem ?? "its list is empty all at once", isSuspect: isSuspect)
    }
}

/// Pure.
struct JournalCheck {
    static let most = 10

    let facts: Result<JournalFacts, JournalError>
    /// The file is there.
    let exists: Bool
    /// Of the configuration; what was removed from it says nothing of today.
    let sources: Set<String>
    let sinks: Set<String>

    var findings: [Finding] {
        let facts: JournalFacts
        do throws(JournalError) {
            facts = try self.facts.get()
        } catch {
            guard error.reason == .missing else { return [.failure("journal", error.detail)] }
            guard exists else { return [.ok("journal", "there is none yet; the first run makes it")] }
            return [
                .warning(
                    "journal", "it is of an earlier version, and was not looked at",
                    remedy: "the next `vedette run` brings it up to date")
            ]
        }
        let silences =
            facts.silences > 0
            ? [Finding.ok("silences", "\(counted(facts.silences, "silence")) in force; `vedette silences` lists them")]
            : []
        return soundness(facts) + troubles(facts) + facts.pending.filter { sinks.contains($0.sink) }.flatMap(pending)
            + silences
    }

    private func soundness(_ facts: JournalFacts) -> [Finding] {
        switch facts.soundness {
        case .sound:
            let events = facts.lastSeq == 0 ? "no event yet" : "\(counted(Int(facts.lastSeq), "event")) so far"
            return [.ok("journal", "it opens, has this version's schema, and every page is sound; \(events)")]
        case .unknown:
            return [
                .warning(
                    "journal", "it opens; it is too large to be checked whole in a few seconds",
                    remedy: "sqlite3 journal.db 'pragma integrity_check'")
            ]
        case .damaged(let words):
            return [
                .failure(
                    "journal", "it is damaged: \(words.prefix(2).joined(separator: "; "))",
                    remedy: "stop the watcher, copy the directory, then 'sqlite3 journal.db .recover' or a backup")
            ]
        }
    }

    private func troubles(_ facts: JournalFacts) -> [Finding] {
        let known = facts.troubles.filter { sources.contains($0.source) }
        let suspect = known.filter(\.isSuspect).map { trouble in
            Finding.warning(
                "source \(trouble.source)", "suspect: \(trouble.problem)",
                remedy: "if that is true, `vedette accept \(trouble.source)`")
        }
        let failing = known.filter { !$0.isSuspect }.map {
            Finding.failure("source \($0.source)", "fails: \($0.problem)")
        }
        return failing.bounded(to: JournalCheck.most, "sources", remedy: "`vedette status` lists them")
            + suspect.bounded(to: JournalCheck.most, "sources", remedy: "`vedette status` lists them")
    }

    private func pending(_ pending: JournalFacts.PendingCount) -> [Finding] {
        let subject = "sink \(pending.sink)"
        var findings: [Finding] = []
        if let pause = pending.pause {
            findings.append(
                .failure(
                    subject, "it rests, with \(counted(pending.pending, "message")) owed: \(pause)",
                    remedy: "mend that, then `vedette outbox retry --sink \(pending.sink)`"))
        } else if let delay = pending.delay {
            findings.append(.warning(subject, "\(counted(pending.pending, "message")) owed, tried in vain: \(delay)"))
        }
        if pending.dead > 0 {
            findings.append(
                .warning(
                    subject, "\(counted(pending.dead, "message")) never arrived",
                    remedy: "`vedette outbox --sink \(pending.sink)` says why"))
        }
        return findings
    }
}
