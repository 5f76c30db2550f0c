// SPDX-License-Identifier: Apache-2.0

import Foundation
public import VedetteCore

/// Time zones from the machine's tz database.
public struct ZoneTime: CivilTime {
    public init() {}

    /// Whether the tz database has it.
    public static func knows(_ zone: String) -> Bool { TimeZone(identifier: zone) != nil }

    public func offset(at time: Timestamp, in zone: String?) -> Int {
        let date = Date(timeIntervalSince1970: Double(time.milliseconds) / 1000)
        return (zone.flatMap(TimeZone.init(identifier:)) ?? .current).secondsFromGMT(for: date)
    }
}
