// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc
import VedetteConfig
import VedetteCore

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "What would stop a bubble, a poll or a delivery from working, and the remedy.",
        discussion: """
            It reads and knocks, and changes nothing: no message, no request and no password is sent. Exit 0 when \
            nothing fails, 69 when something does, 78 when the configuration has errors.
            """)

    @OptionGroup var places: Paths
    @OptionGroup var style: Style

    @Flag(help: "Ask no server.")
    var offline = false

    @Flag(help: "One JSON object a line.")
    var json = false

    func run() async throws {
        let loader = ConfigurationLoader(
            directory: places.config, sourceKinds: KindRegistry.sourceKinds, sinkKinds: SinkConfigurationProbe.kinds)
        let examination = DoctorRunner(
            loader: loader, directory: places.stateDirectory(), journal: places.journal,
            environment: ProcessInfo.processInfo.environment, isOffline: offline)
        var counts: [Finding.Verdict: Int] = [:]
        var isConfigured = true
        let waiting = Waiting(isShown: !json && isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 1)
        waiting.begin()
        defer { waiting.end() }
        try await examination.run { findings in
            waiting.end()
            for finding in findings {
                counts[finding.verdict, default: 0] += 1
                if finding.verdict == .failure, finding.subject == "configuration" { isConfigured = false }
                try Output.print(json ? finding.json.text : finding.line(isColoured: style.isColoured))
            }
            waiting.begin()
        }
        waiting.end()
        try conclude(counts, isConfigured: isConfigured)
    }

    private func conclude(_ counts: [Finding.Verdict: Int], isConfigured: Bool) throws {
        let (good, warned, failed) = (counts[.ok] ?? 0, counts[.warning] ?? 0, counts[.failure] ?? 0)
        let warnings = warned > 0 ? ", \(counted(warned, "warning"))" : ""
        guard isConfigured else {
            throw Exit(.configuration, "the configuration has errors: sinks and servers were not looked at")
        }
        guard failed == 0 else {
            throw Exit(.unavailable, "\(counted(failed, "check")) failed\(warnings), \(good) good")
        }
        Output.diagnose("nothing stands in the way: \(counted(good, "check")) good\(warnings)")
    }
}

/// A word on the terminal while nothing else comes; it leaves no trace.
private struct Waiting {
    let isShown: Bool

    func begin() { if isShown { Output.write("looking…", to: STDERR_FILENO) } }
    func end() { if isShown { Output.write("\r\u{1B}[K", to: STDERR_FILENO) } }
}
