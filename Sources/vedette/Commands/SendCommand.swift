// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteHTTP

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a test message to a sink, by the path that real ones take.",
        discussion: """
            Examples:
              vedette send team-chat
              vedette send team-chat --text "A test of the on-call channel"
            """)

    @Argument(help: "The sink.", completion: Completions.sinks)
    var sink: String

    @Option(help: "Text of the message.")
    var text = "If you can read this, the sink works."

    @OptionGroup var places: Paths

    func run() async throws {
        let configuration = try UserConfiguration.load(places)
        guard let definition = configuration.sinks.first(where: { $0.name == sink }) else {
            throw Exit.unknown("sink", sink, among: configuration.sinks.map(\.name))
        }
        let client = try HTTPClient()
        let clock = SystemClock()
        let services = SinkServices(fetcher: client, clock: clock, userAgent: UserAgent.standard, mail: client)
        let target = definition.make(sink, services)
        let outcome = await target.deliver(message(at: clock.now().wall))
        await target.close()
        await client.shutdown()
        switch outcome {
        case .delivered: Output.diagnose("\(sink): delivered")
        case .retry(let reason, _), .rejected(let reason), .paused(let reason), .disabled(let reason):
            throw Exit(.unavailable, "\(sink): \(reason)")
        }
    }

    private func message(at now: Timestamp) -> Message {
        let random = SystemRandomGenerator()
        let item = Item(key: "test", title: "Test message", state: "Ready for use")
        let event = Event(
            id: random.identifier(at: now), kind: .test, time: now, source: "vedette", sourceKind: "test",
            poll: pollIdentifier(random: random.next()), item: item)
        return Message(
            id: "\(Message.idPrefix)\(random.identifier(at: now))", rule: "test", sink: sink, event: event,
            title: "Test message",
            text: text)
    }
}
