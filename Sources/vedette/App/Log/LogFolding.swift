// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Folds log lines that are alike: the first are written, the others counted, so that a server that takes 400 sources with
/// it does not push everything else out of sight.
struct LogFolding: Sendable {
    struct Line: Sendable, Hashable {
        var level: LogLevel
        var fields = LogFields()
        var text: String
    }

    /// Lines are alike that differ in nothing but numbers and in what they are about.
    private struct Key: Hashable {
        var level: LogLevel
        var pattern: String
    }

    private struct Group {
        var started: BootTime
        var count = 0
        var last: Line?
    }

    /// How long lines are compared.
    static let window = Duration.seconds(10)
    /// Lines of a group that are written.
    static let shown = 10
    /// Groups that are remembered; a line of a further one is written.
    static let mostGroups = 500

    private var groups: [Key: Group] = [:]

    /// Whether lines are folded that `expired` has to report.
    var isFolding: Bool { groups.values.contains { $0.last != nil } }

    /// Returns whether the line is to be written now.
    mutating func accepts(_ line: Line, at now: BootTime) -> Bool {
        let key = Key(level: line.level, pattern: LogFolding.pattern(of: line))
        if groups[key] == nil, groups.count >= LogFolding.mostGroups { return true }
        var group = groups[key] ?? Group(started: now)
        group.count += 1
        let isShown = group.count <= LogFolding.shown
        if !isShown { group.last = line }
        groups[key] = group
        return isShown
    }

    /// Returns the last line of each group whose window is over and that had more lines than were written, with their number.
    /// - Parameter now: nil ends all.
    mutating func expired(at now: BootTime?) -> [Line] {
        let over = groups.filter { group in
            now.map { group.value.started.advanced(by: LogFolding.window) <= $0 } ?? true
        }
        for key in over.keys { groups[key] = nil }
        return over.values.sorted { $0.started < $1.started }.compactMap { group in
            guard var line = group.last else { return nil }
            let more = group.count - LogFolding.shown - 1
            if more > 0 { line.text += " (and \(more) more like it)" }
            return line
        }
    }

    private static func pattern(of line: Line) -> String {
        var text = line.text
        // A title may hold the name of its source, so the longest goes first.
        let names = [line.fields.source, line.fields.sink, line.fields.poll, line.fields.message].compactMap { $0 }
        for name in names.sorted(by: { $0.count > $1.count }) where !name.isEmpty {
            text = text.split(separator: name, omittingEmptySubsequences: false).joined(separator: "?")
        }
        return String(text.unicodeScalars.lazy.filter { !("0"..."9").contains($0) }.map(Character.init))
    }
}
