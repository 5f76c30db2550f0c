// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteCore
import VedetteText

/// Checks that the clock and the time zone can be right. Pure.
struct ClockCheck {
    let now: Timestamp
    /// `$TZ`; nil when it is not set.
    let variable: String?
    /// Whether the tz database knows `$TZ`, or without `$TZ` whether there is an `/etc/localtime`.
    let isZoneKnown: Bool
    /// The zone in which times are shown.
    let zone: String

    @Findings var findings: [Finding] {
        // Before this program was written, or later than certificates reach.
        if now.rfc3339 < "2026" || now.rfc3339 >= "2100" {
            .failure(
                "clock", "the time is \(now.rfc3339), at which no certificate is valid",
                remedy: "set it, or let NTP do so: `timedatectl set-ntp true`")
        } else if isZoneKnown {
            .ok("clock", "\(now.rfc3339); times are shown in \(zone)")
        } else {
            let cause = variable.map { "TZ='\($0)' is not in the tz database" } ?? "there is no /etc/localtime"
            Finding.warning(
                "clock", "\(cause); times are shown in \(zone)",
                remedy: "install tzdata, and name a zone such as Europe/Berlin")
        }
    }
}

extension ClockCheck {
    init(_ environment: [String: String]) {
        now = SystemClock().now().wall
        variable = environment["TZ"].flatMap { $0.isEmpty ? nil : $0 }
        let name = variable.map { $0.hasPrefix(":") ? String($0.dropFirst()) : $0 }
        isZoneKnown =
            name.map { $0.hasPrefix("/") ? access($0, R_OK) == 0 : ZoneTime.knows($0) }
            ?? (access("/etc/localtime", R_OK) == 0)
        zone = TimeZone.current.identifier
    }
}
