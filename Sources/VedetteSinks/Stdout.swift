// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
public import VedetteCore

/// Events on standard output: one JSON object per line, or one line for people.
public enum StdoutKind {
    public static let entry = SinkKindEntry(
        name: "stdout", summary: "Writes each message to standard output, one line each.",
        options: [
            OptionSpec(
                "format", .choice(["json", "line"]),
                "`json`: the event, one object per line; `line`: one line for people.",
                standard: "line on a terminal, else json"),
            OptionSpec("template", .template, "One line per message by this template, instead of a format."),
        ],
        showsTexts: false,
        make: { options throws(OptionProblem) in
            let format = try StdoutSink.Format(options, isTerminal: isatty(STDOUT_FILENO) != 0)
            return { _, services in
                let clock = services.clock
                let line = EventLine { LocalTime.text($0, now: clock.now().wall) }
                return StdoutSink(writer: .standardOutput, format: format, line: line)
            }
        })
}

final class StdoutSink: Sink {
    enum Format: Sendable {
        case json, line
        case template(any Template)

        init(_ options: Options, isTerminal: Bool) throws(OptionProblem) {
            let format = options.text("format")
            if let template = options.template("template") {
                guard format == nil else {
                    throw OptionProblem("template", detail: "takes the place of 'format'; write one of them")
                }
                self = .template(template)
            } else {
                self = (format ?? (isTerminal ? "line" : "json")) == "line" ? .line : .json
            }
        }
    }

    private let writer: BlockingWriter
    private let format: Format
    private let line: EventLine
    private let isClosed = Atomic(false)

    init(writer: BlockingWriter, format: Format, line: EventLine) {
        (self.writer, self.format, self.line) = (writer, format, line)
    }

    func deliver(_ message: Message) async -> Outcome {
        if isClosed.load(ordering: .relaxed) { return .rejected(reason: "stdout is closed") }
        switch await writer.write(bytes(of: message) + [10]) {
        case .written: return .delivered
        case .closed:
            isClosed.store(true, ordering: .relaxed)
            return .rejected(reason: "stdout is closed")
        case .failed(let words): return .retry(reason: "stdout cannot be written: \(words)", after: nil)
        case .cancelled: return .retry(reason: "stopped before standard output took the line", after: nil)
        }
    }

    private func bytes(of message: Message) -> [UInt8] {
        switch format {
        case .json: message.event.json.bytes
        case .line: Array(line.text(message.event).utf8)
        case .template(let template):
            // One line, whatever a stranger's title holds.
            Array(
                TerminalText.safe(
                    template.render(message.event.templateContext(rule: message.rule, field: nil)), limit: 10_000
                ).utf8)
        }
    }
}
