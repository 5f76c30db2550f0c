// SPDX-License-Identifier: Apache-2.0

/// Decides when a person is told that the journal cannot be written: at once, again every hour, and when it is over.
public struct JournalAlarm: Sendable {
    /// What a person is told.
    public enum Announcement: Sendable, Hashable {
        /// It cannot be written, or not be read.
        case failing(JournalError)
        /// It can be written again.
        case recovered(JournalError)
    }

    /// The time between two announcements of the same problem.
    static let interval = Duration.seconds(3600)
    /// A write that succeeds sooner after a failure is no recovery: on a full disk small ones may succeed in between.
    static let shortestRecovery = Duration.seconds(60)

    /// A lock may hold one row alone, and fail one source. So it is announced only after nothing was written for this long.
    static let longestLock = Duration.seconds(30)

    private var problem: JournalError?
    /// The first failure by a lock since the last success.
    private var lockedAt: BootTime?
    private var lastFailure = BootTime(milliseconds: 0)
    private var nextAnnouncement = BootTime(milliseconds: 0)

    /// Creates an alarm for a journal that works.
    public init() {}

    /// Notes a failed write.
    public mutating func failed(_ error: JournalError, at now: BootTime) -> Announcement? {
        guard error.reason.concernsWholeJournal else { return nil }
        if error.reason == .busy, problem == nil {
            let start = lockedAt ?? now
            lockedAt = start
            guard now.duration(since: start) >= JournalAlarm.longestLock else { return nil }
        }
        let isNew = problem == nil
        (problem, lastFailure) = (error, now)
        if isNew { nextAnnouncement = now }
        return reminder(at: now)
    }

    /// Notes a write that succeeded.
    public mutating func succeeded(at now: BootTime) -> Announcement? {
        lockedAt = nil
        guard let error = problem, now.duration(since: lastFailure) >= JournalAlarm.shortestRecovery else { return nil }
        problem = nil
        return .recovered(error)
    }

    /// Returns the announcement that is due; nil when there is none.
    public mutating func reminder(at now: BootTime) -> Announcement? {
        guard let problem, now >= nextAnnouncement else { return nil }
        nextAnnouncement = now.advanced(by: JournalAlarm.interval)
        return .failing(problem)
    }
}

extension JournalError {
    /// The level of a log line about one write that failed. What concerns every write is announced once, by `JournalAlarm`.
    public var logLevel: LogLevel { reason.concernsWholeJournal ? .debug : .error }
}

extension JournalError.Reason {
    /// Whether one record may be at fault, so that the others of its transaction can be written without it: a lock may hold one
    /// row alone, and a server may lack time or memory for one record.
    public var mayConcernOneRecord: Bool { self == .busy || self == .inputOutput || !concernsWholeJournal }

    /// Whether every other record would fail for the same reason, or may do so.
    public var concernsWholeJournal: Bool {
        switch self {
        case .locked, .full, .readOnly, .corrupt, .newer, .older, .missing, .denied, .busy, .unavailable, .inputOutput:
            true
        case .refused, .conflict: false
        }
    }
}
