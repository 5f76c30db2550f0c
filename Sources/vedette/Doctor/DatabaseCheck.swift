// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedettePostgres

/// Checks the server of a journal on PostgreSQL. Pure.
struct DatabaseCheck {
    /// Above this, times of events and the server's do not fit together.
    static let mostSkew = Duration.seconds(2)
    /// A commit takes three round trips.
    static let mostLatency = Duration.milliseconds(50)

    let location: String
    let facts: PostgresFacts

    @Findings var findings: [Finding] {
        let latency = "\(facts.latency.wholeMilliseconds) ms"
        if facts.latency > Self.mostLatency {
            .warning(
                "database", "\(location) answers in \(latency)",
                remedy: "run the watcher nearer to it: a commit takes three round trips")
        } else {
            .ok("database", "\(location) is PostgreSQL \(facts.version) and answers in \(latency)")
        }
        if !facts.canCreate {
            .failure(
                "database", "this user may create no table there",
                remedy: "make it the owner of the database, or create the schema of its search_path for it")
        }
        for name in ["fsync", "full_page_writes"] where facts.settings[name] == "off" {
            .failure(
                "database", "\(name) is off: a crash of its machine damages the journal",
                remedy: "set \(name) = on in postgresql.conf, and reload")
        }
        if facts.clockSkew > Self.mostSkew || facts.clockSkew < .zero - Self.mostSkew {
            .warning(
                "database", "its clock and this machine's differ by \(facts.clockSkew.wholeMilliseconds) ms",
                remedy: "synchronize both clocks (chrony, systemd-timesyncd)")
        }
    }
}
