// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc
import VedetteConfig
import VedetteCore
import VedetteDocument

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find what stops a notification, a poll or a delivery from working, and the remedy.",
        discussion: """
            It reads and connects, and changes nothing: no message, no request and no password is sent. Exit 0 when \
            nothing fails, 69 when something does, 78 when the configuration has errors.

            Examples:
              vedette doctor
              vedette doctor --offline --json
            """)

    @Flag(help: "Connect to no server.")
    var offline = false

    @Flag(help: "One JSON object a line.")
    var json = false

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func run() async throws {
        let loader = ConfigurationLoader(
            directory: places.config, sourceKinds: KindRegistry.sourceKinds, sinkKinds: SinkConfigurationProbe.kinds,
            recurrence: RecurrenceDays.days, clock: SystemClock())
        let runner = DoctorRunner(
            loader: loader, place: try places.journalPlace(loader.journalServer().server),
            environment: ProcessInfo.processInfo.environment, isOffline: offline)
        var counts: [Finding.Severity: Int] = [:]
        var isConfigured = true
        let waiting = Waiting(isShown: !json && isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 1)
        waiting.begin()
        defer { waiting.end() }
        try await runner.run { findings in
            waiting.end()
            for finding in findings {
                counts[finding.severity, default: 0] += 1
                if finding.severity == .failure, finding.subject == "configuration" { isConfigured = false }
                let width = TerminalSize.current?.columns
                try Output.print(
                    json ? [StyledText(finding.json.text)] : finding.lines(colour.palette, width: width))
            }
            waiting.begin()
        }
        waiting.end()
        try conclude(counts, isConfigured: isConfigured)
    }

    private func conclude(_ counts: [Finding.Severity: Int], isConfigured: Bool) throws {
        let (good, warned, failed) = (counts[.ok] ?? 0, counts[.warning] ?? 0, counts[.failure] ?? 0)
        let warnings = warned > 0 ? ", \(counted(warned, "warning"))" : ""
        guard isConfigured else {
            throw Exit(.configuration, "the configuration has errors: sinks and servers were not checked")
        }
        guard failed == 0 else {
            throw Exit(.unavailable, "\(counted(failed, "check")) failed\(warnings), \(good) passed")
        }
        Output.diagnose("no check failed: \(counted(good, "check")) passed\(warnings)")
    }
}

/// Shows on a terminal that a check is under way.
private struct Waiting {
    let isShown: Bool

    func begin() { if isShown { Output.Progress.show("checking…") } }
    func end() { if isShown { Output.Progress.clear() } }
}
