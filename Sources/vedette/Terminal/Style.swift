// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc
import VedetteCore
import VedetteSinks

enum ColourChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never
}

/// Colour on a terminal only, unless asked (no-color.org; bixense.com/clicolors).
struct Style: ParsableArguments {
    @Option(help: "Colour: auto, always or never.")
    var color = ColourChoice.auto

    var isColoured: Bool { isColoured(ProcessInfo.processInfo.environment, isTerminal: isatty(STDOUT_FILENO) == 1) }

    func isColoured(_ environment: [String: String], isTerminal: Bool) -> Bool {
        switch color {
        case .always: return true
        case .never: return false
        case .auto:
            if environment["NO_COLOR"].map({ !$0.isEmpty }) == true { return false }
            if environment["CLICOLOR_FORCE"].map({ !$0.isEmpty }) == true { return true }
            return isTerminal && environment["TERM"] != "dumb"
        }
    }

    /// The line of an event as `run` on a terminal, `tail` and `replay` print it.
    var eventLine: EventLine {
        let now = SystemClock().now().wall
        return EventLine(isColoured: isColoured) { LocalTime.text($0, now: now) }
    }
}

/// Columns as wide as what they hold, two spaces apart.
struct TextTable {
    private var rows: [[String]]

    init(_ header: [String]) { rows = [header] }

    mutating func add(_ row: [String]) { rows.append(row.map { TerminalText.safe($0, limit: 120) }) }

    var lines: [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { text, width in text + String(repeating: " ", count: width - text.count) }
                .joined(separator: "  ").trimmingTrailingSpaces()
        }
    }
}

extension String {
    fileprivate func trimmingTrailingSpaces() -> String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}

extension Timestamp {
    /// `12 s ago`, `in 4 min`.
    func relative(to now: Timestamp) -> String {
        let seconds = seconds(since: now)
        if abs(seconds) < 1 { return "now" }
        return seconds < 0
            ? "\(MessageFormatter.duration(seconds: -seconds)) ago"
            : "in \(MessageFormatter.duration(seconds: seconds))"
    }
}
