// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks

struct TestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Play the rules' own tests, or stored events against today's rules.",
        discussion: """
            Without --since it does what `check` does and lists every test. With it, events of the journal are played again: what would \
            have been sent is printed, by rule and sink. Nothing is sent and nothing is written.

            Examples:
              vedette test
              vedette test --since 7d
            """)

    @Option(help: ArgumentHelp("Events not older than this: 7d, 12h.", valueName: "duration"))
    var since: String?

    @Option(help: ArgumentHelp("As if it were that time now (RFC 3339).", valueName: "time"))
    var at: String?

    @OptionGroup var places: Paths

    func validate() throws {
        if at != nil, since == nil { throw ValidationError("--at goes with --since") }
    }

    func run() async throws {
        guard let since else { return try playTests(try UserConfiguration.loadChecked(places)) }
        let configuration = try UserConfiguration.load(places, secrets: .none)
        guard let age = Duration(configured: since) else {
            throw Exit(.usage, "'\(since)' is no duration; write it as 7d or 12h")
        }
        let end = try at.map(TestCommand.time) ?? SystemClock().now().wall
        try await simulate(RuleSet(configuration.rules), from: end.advanced(by: .zero - age), to: end)
    }

    private static func time(_ text: String) throws -> Timestamp {
        guard let time = Timestamp(rfc3339: text) else {
            throw Exit(.usage, "'\(text)' is no time; write it as 2026-11-21T12:00:00Z")
        }
        return time
    }

    /// A configuration whose tests fail is none, so what is left to say is how many there are.
    private func playTests(_ configuration: Configuration) throws {
        for rule in configuration.rules where !rule.tests.isEmpty {
            try Output.print("ok: \(rule.name), \(counted(rule.tests.count, "test"))")
        }
        let without = configuration.rules.filter(\.tests.isEmpty).map(\.name)
        if !without.isEmpty { Output.diagnose("without a test: \(without.joined(separator: ", "))") }
    }

    private func simulate(_ rules: RuleSet, from start: Timestamp, to end: Timestamp) async throws {
        let reader = try await places.journal.reader()
        var simulation = StoredEventSimulation(rules, until: end)
        var counts: [String: (sent: Int, suppressed: Int)] = [:]
        func show(_ deliveries: [Delivery]) throws {
            for delivery in deliveries {
                let name = "\(delivery.message.rule) → \(delivery.message.sink)"
                let isSent = delivery.state == .pending
                counts[name, default: (0, 0)].sent += isSent ? 1 : 0
                counts[name, default: (0, 0)].suppressed += isSent ? 0 : 1
                let reason =
                    isSent ? "" : " (suppressed: \(LocalTime.localized(delivery.reason ?? "", now: end)))"
                try Output.print(
                    "\(LocalTime.text(delivery.created, now: end))  \(name): \(delivery.message.title)\(reason)")
            }
        }
        for try await page in reader.allEvents(EventFilter(since: start)) {
            for event in page { try show(simulation.play(event)) }
        }
        try show(simulation.finish())
        for (rule, line) in simulation.waiting {
            try Output.print("\(LocalTime.text(end, now: end))  \(rule): \(line)")
        }
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            Output.diagnose("\(name): \(count.sent) sent, \(count.suppressed) suppressed")
        }
        if counts.isEmpty { Output.diagnose("no rule would have sent a message") }
    }
}
