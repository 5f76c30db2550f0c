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

    private var problem: JournalError?
    private var lastFailure = BootTime(milliseconds: 0)
    private var nextAnnouncement = BootTime(milliseconds: 0)

    /// Creates an alarm for a journal that works.
    public init() {}

    /// Notes a failed write.
    public mutating func failed(_ error: JournalError, at now: BootTime) -> Announcement? {
        guard error.reason.concernsWholeJournal else { return nil }
        let isNew = problem == nil
        (problem, lastFailure) = (error, now)
        if isNew { nextAnnouncement = now }
        return reminder(at: now)
    }

    /// Notes a write that succeeded.
    public mutating func succeeded(at now: BootTime) -> Announcement? {
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
    /// Whether every other record would fail for the same reason.
    public var concernsWholeJournal: Bool {
        switch self {
        case .locked, .full, .readOnly, .corrupt, .newer, .older, .missing, .denied, .busy, .unavailable, .inputOutput:
            true
        case .refused, .conflict: false
        }
    }
}
