// SPDX-License-Identifier: Apache-2.0

/// A source as `status` shows it.
public struct SourceStatus: Sendable {
    /// The health of a source as `status` names it, also in JSON.
    public enum Health: String, Sendable, CaseIterable {
        /// Polls fail.
        case failing
        /// Its last poll is probably wrong.
        case suspect
        /// The last poll failed, not yet often enough for `failing`.
        case retrying
        /// The last poll was good.
        case ok
        /// It was never polled.
        case new
    }

    /// The name of the source.
    public let name: String
    /// The name of its kind; empty where the configuration has errors.
    public let kindName: String
    /// The interval that is configured; zero where the configuration has errors.
    public let every: Duration
    /// When it is polled by the calendar; nil for at the interval, at any time.
    public private(set) var calendar: PollCalendar?
    /// Whether the server's certificate is not verified.
    public let isInsecure: Bool
    /// The digest of the URL that is configured; nil when that is unknown.
    public let urlDigest: UInt64?
    /// What the journal holds; nil when it was never polled.
    public let record: SourceRecord?
    /// Whether it works.
    public let health: Health

    /// Creates the status of a source.
    public init(
        name: String, kindName: String, every: Duration, isInsecure: Bool, urlDigest: UInt64? = nil,
        record: SourceRecord?
    ) {
        (self.name, self.kindName, self.every) = (name, kindName, every)
        (self.isInsecure, self.urlDigest, self.record) = (isInsecure, urlDigest, record)
        health = SourceStatus.health(of: record)
    }

    /// Creates the status of a configured source.
    /// - Parameter record: nil when it was never polled.
    public init(_ source: Source, _ record: SourceRecord?) {
        self.init(
            name: source.name, kindName: source.kindName, every: source.interval.every,
            isInsecure: source.server.tls.insecure, urlDigest: source.urlDigest, record: record)
        calendar = source.interval.calendar
    }

    /// Creates the status of a source of which only the journal is known.
    init(_ record: SourceRecord) {
        self.init(name: record.name, kindName: "", every: .zero, isInsecure: false, record: record)
    }

    /// Returns the status of the same source with another record.
    func with(_ record: SourceRecord?) -> SourceStatus {
        var status = SourceStatus(
            name: name, kindName: kindName, every: every, isInsecure: isInsecure, urlDigest: urlDigest, record: record)
        status.calendar = calendar
        return status
    }

    /// When it is polled: `every 60s`, `at mon-fri 08:00`, `every 60s during office`.
    /// - Parameter every: the interval in words.
    public func polled(every: String) -> String { PollCalendar.text(calendar, every: every) }

    private static func health(of record: SourceRecord?) -> Health {
        guard let record else { return .new }
        if record.health.isFailing { return .failing }
        if let emptiness = record.snapshot?.emptiness, emptiness != .accepted { return .suspect }
        if record.health.failures > 0 { return .retrying }
        return record.health.lastPollAt == nil ? .new : .ok
    }

    /// Since when it fails or is suspect.
    public var troubledSince: Timestamp? {
        health == .suspect ? record?.snapshot?.emptiness?.since : record?.health.failingSince
    }

    /// `5 Ready for use, 3 Stopped`
    public var states: String {
        (record?.snapshot?.states ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }

    /// The address to which the server has moved the source for good, until the configuration has another one.
    public var movedTo: String? { record?.urlDigest == urlDigest ? record?.movedTo : nil }

    /// How long entries that were not announced are a remark.
    private static let recent = Duration.seconds(7 * 86_400)

    /// Facts that are no problem, and that the person who reads a table of sources should know.
    public func remarks(now: Timestamp) -> [String] {
        var remarks: [String] = []
        if isInsecure { remarks.append("TLS is not checked (insecure)") }
        if let calendar, calendar.knownOpening(now) == nil {
            remarks.append(
                "every window of 'during' has ended, so it is not polled; write later dates or another window")
        }
        if let movedTo { remarks.append("moved for good to \(movedTo); write that address into the configuration") }
        if case .polled(let reason) = record?.connection { remarks.append("polled, since \(reason)") }
        if let unannounced = record?.snapshot?.unannounced, unannounced.at.advanced(by: SourceStatus.recent) > now {
            let why =
                unannounced.isUndated ? "undated behind the known ones ('time:' decides)" : "older than the window"
            remarks.append("\(unannounced.count) \(why), not announced; last '\(unannounced.last)'")
        }
        if let shared = record?.snapshot?.sharedKeys, let last = shared.last {
            let others = shared.digests.count > 1 ? " and \(counted(shared.digests.count - 1, "other value"))" : ""
            remarks.append("several entries have '\(last)'\(others) in common, so what else they have keys them")
        }
        if let warning = record?.snapshot?.warning { remarks.append(warning) }
        return remarks
    }
}
