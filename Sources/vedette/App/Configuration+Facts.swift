// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteConfig
import VedetteCore
import VedetteSinks

extension Configuration {
    /// What `status` and the page need to know.
    var facts: ConfigurationFacts {
        let times = files.compactMap { path in
            (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        }
        let seconds = times.map(\.timeIntervalSince1970).max() ?? 0
        return ConfigurationFacts(
            sources: sources,
            sinks: sinks.map { .init(name: $0.name, kindName: $0.kindName, isInsecure: $0.isInsecure) },
            rules: rules, editedAt: Timestamp(milliseconds: Int64(seconds * 1000)))
    }
}

extension StatusFacts {
    /// Reads the facts of now.
    static func read(
        _ journal: any JournalAccess, _ configuration: ConfigurationFacts, records: [SourceRecord]? = nil
    ) async throws(JournalError) -> StatusFacts {
        let now = SystemClock().now().wall
        return try await read(
            journal, configuration, records: records, now: now, today: LocalTime.startOfDay(of: now), age: ProcessAge.of
        )
    }
}
