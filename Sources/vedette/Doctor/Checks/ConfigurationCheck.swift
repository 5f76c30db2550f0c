// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteConfig
import VedetteCore

/// Reports the errors of the configuration, or its size. Pure.
struct ConfigurationCheck {
    private static let limit = 20

    let loaded: Loaded

    @Findings var findings: [Finding] {
        if let configuration = loaded.configuration {
            .ok("configuration", summary(configuration))
            if configuration.sources.isEmpty {
                .warning(
                    "configuration", "there is no source: nothing is polled", remedy: "`vedette probe URL` writes one")
            } else if configuration.rules.isEmpty {
                .warning("configuration", "there is no rule: no message is sent", remedy: "write one under 'rules'")
            }
        }
        diagnostics(.error).bounded(to: Self.limit, "configuration", remedy: "`vedette check` lists them")
        diagnostics(.warning).bounded(to: Self.limit, "configuration", remedy: "`vedette check` lists them")
    }

    private func diagnostics(_ severity: Diagnostic.Severity) -> [Finding] {
        loaded.diagnostics.filter { $0.severity == severity }.map { diagnostic in
            let place = diagnostic.line == 0 ? "" : ":\(diagnostic.line):\(diagnostic.column)"
            return Finding(
                severity: severity == .error ? .failure : .warning, subject: "configuration",
                text: "\(diagnostic.file)\(place): \(diagnostic.message)")
        }
    }

    private func summary(_ configuration: Configuration) -> String {
        let counts = [
            counted(configuration.sources.count, "source"), counted(configuration.sinks.count, "sink"),
            counted(configuration.rules.count, "rule"),
        ]
        let files = counted(configuration.files.count, "file")
        return "\(counts.joined(separator: ", ")) in \(files) of \(loaded.directory ?? "its directory"); "
            + "every secret can be read"
    }
}
