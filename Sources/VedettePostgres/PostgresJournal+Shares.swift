// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

extension PostgresJournal {
    public var shares: (any JournalShares)? {
        let registration = writer.registration
        return registration.isShared
            ? PostgresShares(journal: self, writer: registration.number, name: registration.name) : nil
    }
}

/// One watcher's part of a journal on PostgreSQL.
struct PostgresShares: JournalShares {
    let journal: PostgresJournal
    let writer: Int64
    let name: String

    var leasedFrom: BootTime? { journal.writer.leasedFrom }

    func watchers() async throws(JournalError) -> [RegisteredWatcher] {
        try await journal.read { try WatcherRegistration.all($0, isExpiredToo: true) }
    }

    func configure(_ digest: String) async throws(JournalError) {
        try await journal.writer.write(.watchers) { [writer] in
            $0.enqueue(
                """
                update watcher set configuration = $2, configured = nextval('watcher_configuration') where number = $1
                """, [writer, digest])
        }
    }

    func take(_ leases: Set<Lease>) async throws(JournalError) -> Set<Lease> {
        try await journal.writer.write(.watchers) { [writer] in try LeaseRows.take(leases, for: writer, $0) }
    }

    func release(_ leases: Set<Lease>) async throws(JournalError) {
        try await journal.writer.write(.watchers) { [writer] in LeaseRows.release(leases, of: writer, $0) }
    }

    func ended(among deliveries: [Int64]) async throws(JournalError) -> Set<Int64> {
        try await journal.read { try DeliveryRows.ended(among: deliveries, $0) }
    }

    func ruleChanges(after version: Int64?) async throws(JournalError) -> RuleChanges {
        try await journal.read { [writer] in try ChangeRows.changes($0, after: version, writer: writer) }
    }

    func know(version: Int64) { journal.writer.know(version: version) }

    func shareWakes() throws(JournalError) -> AsyncStream<Void> {
        try NotificationWatch.start(journal.server, for: .others(than: writer))
    }
}
