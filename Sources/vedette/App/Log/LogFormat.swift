// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteCore
import VedetteSinks

/// The option `--log`.
enum LogStyle: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text, json
}

/// Formats a line of the log. journald gets a priority before it, and no time in a text, since it adds its own
/// (sd-daemon(3)).
struct LogFormat: Sendable {
    var style = LogStyle.text
    var isForJournald = false
    /// Formats a time on the local clock.
    var time: @Sendable (Timestamp) -> String
    /// Returns the columns of the terminal that shows the log; nil where it is no terminal.
    var columns: @Sendable () -> Int? = { nil }

    /// Returns the line with its line break; a terminal gets several where it is too long. Control characters are escaped.
    func line(_ line: LogFolding.Line, at now: Timestamp) -> String {
        let prefix = isForJournald ? "<\(LogFormat.priority(line.level))>" : ""
        switch style {
        case .json: return prefix + json(line, at: now).text + "\n"
        case .text:
            let text = TerminalText.safe(line.text)
            if isForJournald { return "\(prefix)\(text)\n" }
            let time = time(now) + " "
            let whole = StyledText("\(time)\(line.level >= .warning ? "\(line.level): " : "")\(text)")
            return whole.wrapped(to: columns(), hanging: time.count).map { "\($0.text)\n" }.joined()
        }
    }

    private func json(_ line: LogFolding.Line, at now: Timestamp) -> JSON {
        .members([
            "time": .string(now.rfc3339), "level": .string("\(line.level)"), "text": .string(line.text),
            "source": line.fields.source.map(JSON.string), "poll": line.fields.poll.map(JSON.string),
            "sink": line.fields.sink.map(JSON.string), "message": line.fields.message.map(JSON.string),
        ])
    }

    /// The levels of syslog(3).
    private static func priority(_ level: LogLevel) -> Int {
        switch level {
        case .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        }
    }
}
