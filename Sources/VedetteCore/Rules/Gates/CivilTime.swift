// SPDX-License-Identifier: Apache-2.0

/// Converts between UTC and local time, by the tz database.
public protocol CivilTime: Sendable {
    /// Returns the offset of local time from UTC, in seconds; positive east of Greenwich.
    /// - Parameter zone: a tz database name; nil for the machine's own.
    func offset(at time: Timestamp, in zone: String?) -> Int
}
