// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
public import VedetteCore

/// Writes events to standard output: one JSON object per line, or one line for people.
public enum StdoutKind {
    public static let entry = SinkKindEntry(
        name: "stdout", summary: "Writes each message to standard output, one line each.",
        options: [
            OptionSpec(
                "format", .choice(["json", "line"]),
                "`json`: the event, one object per line; `line`: one line for people.",
                default: "line on a terminal, else json"),
            OptionSpec("template", .template, "One line per message by this template, instead of a format."),
        ],
        showsTexts: false, isEventSink: true, isLocal: true,
        make: { options throws(OptionProblem) in
            let format = try LineFormat(options, standard: isatty(STDOUT_FILENO) != 0 ? "line" : "json")
            return { _, services in
                let clock = services.clock
                let line = EventLine { LocalTime.text($0, now: clock.now().wall) }
                return StdoutSink(writer: .standardOutput, format: format, line: line)
            }
        })
}

final class StdoutSink: Sink {
    private let writer: BlockingWriter
    private let format: LineFormat
    private let line: EventLine
    private let isClosed = Atomic(false)

    init(writer: BlockingWriter, format: LineFormat, line: EventLine) {
        (self.writer, self.format, self.line) = (writer, format, line)
    }

    func deliver(_ message: Message) async -> Outcome {
        if isClosed.load(ordering: .relaxed) { return .rejected(reason: "stdout is closed") }
        switch await writer.write(format.bytes(of: message, line) + [10]) {
        case .written: return .delivered
        case .closed:
            isClosed.store(true, ordering: .relaxed)
            return .rejected(reason: "stdout is closed")
        case .failed(let words): return .retry(reason: "stdout cannot be written: \(words)", after: nil)
        case .cancelled: return .retry(reason: "stopped before standard output took the line", after: nil)
        }
    }
}
