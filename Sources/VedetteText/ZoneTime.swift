// SPDX-License-Identifier: Apache-2.0

import Foundation
public import VedetteCore

/// Reads time zones from the machine's tz database.
public struct ZoneTime: CivilTime {
    public init() {}

    /// Returns whether the tz database has a zone.
    public static func knows(_ zone: String) -> Bool { TimeZone(identifier: zone) != nil }

    public func offset(at time: Timestamp, in zone: String?) -> Int {
        let date = Date(timeIntervalSince1970: Double(time.milliseconds) / 1000)
        return (zone.flatMap(TimeZone.init(identifier:)) ?? .current).secondsFromGMT(for: date)
    }
}
