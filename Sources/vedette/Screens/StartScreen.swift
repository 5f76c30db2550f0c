// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteConfig
import VedetteCore

/// The first lines of `run` in a terminal: what runs, on which configuration, and where to look next.
struct StartScreen {
    let version: String
    let files: [String]
    let journal: String
    let counts: String

    init(_ configuration: Configuration, journal: String) {
        version = ProgramVersion.number
        (files, self.journal) = (configuration.files, journal)
        let (sources, rules) = (configuration.sources.count, configuration.rules.count)
        counts =
            "\(counted(sources, "source")), \(counted(rules, "rule")), \(counted(configuration.sinks.count, "sink"))"
    }

    var lines: [String] {
        let directory = files.first.map { ($0 as NSString).deletingLastPathComponent } ?? ""
        let place = files.count == 1 ? files[0] : "\(directory) (\(counted(files.count, "file")))"
        return [
            "vedette \(version): \(counts)", "configuration  \(place)", "journal        \(journal)",
            "Ctrl-C stops it. In another terminal: `vedette status`, `vedette tail`",
        ]
    }
}
