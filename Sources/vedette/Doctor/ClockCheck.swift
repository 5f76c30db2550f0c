// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteCore
import VedetteText

/// What the machine says of time.
struct ClockFacts: Sendable, Hashable {
    var now: Timestamp
    /// `$TZ`, when it is set.
    var variable: String?
    /// Whether the tz database has what `$TZ` says, or where it says nothing, there is an `/etc/localtime`.
    var isZoneKnown: Bool
    /// The zone that times are shown in.
    var zone: String

    static func now(_ environment: [String: String]) -> ClockFacts {
        let variable = environment["TZ"].flatMap { $0.isEmpty ? nil : $0 }
        let name = variable.map { $0.hasPrefix(":") ? String($0.dropFirst()) : $0 }
        let isKnown =
            name.map { $0.hasPrefix("/") ? access($0, R_OK) == 0 : ZoneTime.knows($0) }
            ?? (access("/etc/localtime", R_OK) == 0)
        return ClockFacts(
            now: SystemClock().now().wall, variable: variable, isZoneKnown: isKnown, zone: TimeZone.current.identifier)
    }
}

/// Whether times can be believed. Pure.
struct ClockCheck {
    let facts: ClockFacts

    var findings: [Finding] {
        // Before this program was written, or in a century that certificates do not reach.
        guard let first = Timestamp(rfc3339: "2026-01-01T00:00:00Z"),
            let last = Timestamp(rfc3339: "2100-01-01T00:00:00Z"), facts.now >= first, facts.now < last
        else {
            return [
                .failure(
                    "clock", "it says \(facts.now.rfc3339): with that no certificate is valid",
                    remedy: "set it, or let NTP do so: `timedatectl set-ntp true`")
            ]
        }
        guard facts.isZoneKnown else {
            let what = facts.variable.map { "TZ='\($0)' is no zone of the tz database" } ?? "there is no /etc/localtime"
            return [
                .warning(
                    "clock", "\(what): local times are those of \(facts.zone)",
                    remedy: "install tzdata, and name a zone as Europe/Berlin")
            ]
        }
        return [.ok("clock", "\(facts.now.rfc3339), local times are those of \(facts.zone)")]
    }
}
