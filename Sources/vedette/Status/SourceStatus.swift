// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The health of a source as `status` names it, also in JSON.
enum SourceHealth: String, CaseIterable {
    case failing
    /// Its last poll is probably wrong.
    case suspect
    /// The last poll failed, not yet often enough for `failing`.
    case retrying
    case ok
    /// It was never polled.
    case new
}

/// A source as `status` shows it.
struct SourceStatus: Sendable {
    let name: String
    let kindName: String
    /// The interval that is configured.
    let every: Duration
    /// Whether the server's certificate is not verified.
    let isInsecure: Bool
    /// What the journal holds; nil when it was never polled.
    let record: SourceRecord?

    var health: SourceHealth {
        guard let record else { return .new }
        if record.health.isFailing { return .failing }
        if let emptiness = record.snapshot?.emptiness, emptiness != .accepted { return .suspect }
        if record.health.failures > 0 { return .retrying }
        return record.health.lastPollAt == nil ? .new : .ok
    }

    /// Since when it fails or is suspect.
    var troubledSince: Timestamp? {
        health == .suspect ? record?.snapshot?.emptiness?.since : record?.health.failingSince
    }

    /// `5 Ready for use, 3 Stopped`
    var states: String {
        (record?.snapshot?.states ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }

    /// How long entries that were not announced are a remark.
    private static let recent = Duration.seconds(7 * 86_400)

    /// Facts that are no problem, and that the person who reads a table of sources should know.
    func remarks(now: Timestamp) -> [String] {
        var remarks: [String] = []
        if isInsecure { remarks.append("TLS is not checked (insecure)") }
        if case .polled(let reason) = record?.connection { remarks.append("polled, since \(reason)") }
        if let unannounced = record?.snapshot?.unannounced, unannounced.at.advanced(by: SourceStatus.recent) > now {
            remarks.append("\(unannounced.count) older than the window, not announced; last '\(unannounced.last)'")
        }
        return remarks
    }
}
