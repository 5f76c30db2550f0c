// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSinks

/// Renders `status` for people: problems first, then sinks, silences, what rules wait for, and the sources.
struct StatusScreen: Sendable {
    /// More sources than these are only counted, so that everything fits one screen.
    static let mostSources = 10
    /// More problems, sinks, silences, waiting matches or warnings than these are only counted.
    static let mostRows = 8

    let facts: StatusFacts
    var palette = Palette.plain
    /// The cells of a line; nil for no limit.
    var width: Int?
    /// Whether everything is shown, however much it is.
    var isWhole = false
    /// Formats a time on the local clock.
    var time: @Sendable (Timestamp) -> String
    /// Puts the RFC 3339 times of a sentence on the local clock.
    var localized: @Sendable (String) -> String

    private var now: Timestamp { facts.now }

    /// The screen of everything.
    var lines: [StyledText] {
        var sections = [header, problems, watchers, sinks, silences, timers, warnings, sources].filter { !$0.isEmpty }
        if let last = sections.popLast() {
            return sections.flatMap { $0 + [StyledText("")] } + last
        }
        return []
    }

    /// The screen of single sources.
    func lines(of names: [String]) -> [StyledText] {
        let blocks = names.compactMap { name in facts.sources.first { $0.name == name } }.map(block)
        return Array(blocks.joined(separator: [StyledText("")]))
    }

    // MARK: Sections

    private var header: [StyledText] {
        var lines: [StyledText] = []
        if let watcher = facts.watcher {
            let since = watcher.since.map { " since \(time($0)) (\(age($0)))" } ?? ""
            let host = watcher.process.host.map { " on \($0)" } ?? ""
            lines.append(
                fitted(palette.paint("running", .good) + StyledText("\(since), pid \(watcher.process.pid)\(host)")))
        } else {
            let remedy = facts.hasJournal ? "start it with `vedette run`" : "it never ran; start it with `vedette run`"
            lines.append(fitted(palette.paint("not running", .bad) + StyledText(": \(remedy)")))
        }
        if let stalled = facts.stalledSince {
            let text = "it has stored nothing since \(time(stalled)): is the disk full? Its log tells the cause"
            lines += wrapped(palette.paint(text, .bad), hanging: 0)
        }
        let healths = facts.healthCounts.map { health, count in
            palette.paint("\(count) \(health.rawValue)", Palette.role(of: health.meaning) ?? .faint)
        }
        var counts = StyledText(counted(facts.sources.count, "source"))
        if !healths.isEmpty { counts = counts + StyledText(": ") + joined(healths, ", ") }
        let rest = ", \(counted(facts.sinks.count, "sink")), \(counted(facts.rules.count, "rule"))"
        let errors = facts.configurationErrors
        lines.append(fitted(errors > 0 ? counts : counts + StyledText(rest)))
        if errors > 0 {
            let text =
                "the configuration has \(counted(errors, "error")), which `vedette check` lists: this is what the journal has"
            lines += wrapped(palette.paint(text, .bad), hanging: 0)
        }
        if let lateness = facts.lateness[""] { lines.append(fitted(text(of: lateness))) }
        return lines
    }

    private func text(of lateness: PollLateness.Report) -> StyledText {
        let polls = lateness.polls == 1 ? "the last poll" : "99 % of the last \(lateness.polls) polls"
        let text = "\(polls) started within \(duration(of: lateness)) of the due time"
        return palette.paint(text, lateness.isLate ? .doubtful : .faint)
    }

    private func duration(of lateness: PollLateness.Report) -> String {
        lateness.p99 < 1
            ? "\(Int(lateness.p99 * 1000)) ms" : DurationText.long(seconds: lateness.p99)
    }

    private var problems: [StyledText] {
        let all = facts.problems
        guard !all.isEmpty else { return [] }
        let shown = shown(of: all)
        let indent = min(20, (shown.map { StyledText($0.subject).width }.max() ?? 0) + 2)
        var lines = [palette.paint("PROBLEMS", .faint)]
        for problem in shown { lines += text(of: problem, indent) }
        return lines + rest(of: all)
    }

    private func text(of problem: StatusProblem, _ indent: Int) -> [StyledText] {
        let since = problem.since.map { " since \(time($0)) (\(age($0)))" } ?? ""
        let subject = StyledText(problem.subject).truncated(to: indent - 1).padded(to: indent)
        var first = subject + palette.paint(problem.word, problem.isBad ? .bad : .doubtful) + StyledText(since)
        if !problem.cause.isEmpty { first = first + StyledText(": \(localized(problem.cause))") }
        let details = problem.details.map { detail in
            switch detail {
            case .text(let text): text
            case .past(let words, let at): "\(words) \(time(at)) (\(at.relative(to: now)))"
            case .future(let words, let at): at <= now ? "\(words) now" : "\(words) \(at.relative(to: now))"
            }
        }
        let blank = StyledText("").padded(to: indent)
        return ([first] + flowed(details, indent).map { blank + $0 }).map(fitted)
    }

    private var watchers: [StyledText] {
        guard !facts.watchers.isEmpty else { return [] }
        let heading = ["WATCHER", "PROCESS", "SINCE", "SOURCES", "SINKS"]
        var table = TextTable(heading + (facts.lateness.isEmpty ? [] : ["P99 LATENESS"]), palette)
        for watcher in facts.watchers {
            let host = watcher.process.host.map { " on \($0)" } ?? ""
            let lateness = facts.lateness[watcher.name].map { report in
                report.isLate
                    ? palette.paint(duration(of: report), .doubtful) : StyledText(duration(of: report))
            }
            table.add(
                [
                    StyledText(watcher.name), StyledText("\(watcher.process.pid)\(host)"),
                    StyledText(watcher.started.relative(to: now)),
                    StyledText("\(watcher.sources)"), StyledText("\(watcher.sinks)"),
                ] + (facts.lateness.isEmpty ? [] : [lateness ?? StyledText("-")]))
        }
        return table.lines(within: width, shrinking: [0, 1])
    }

    private var sinks: [StyledText] {
        guard !facts.sinks.isEmpty else { return [] }
        let shown = shown(of: facts.sinks)
        let remarks = shown.map(remark)
        let hasRemarks = remarks.contains { $0.width > 0 }
        let heading = ["SINK", "LAST SENT", "TODAY", "PENDING", "DEAD"] + (hasRemarks ? ["REMARK"] : [])
        var table = TextTable(heading, palette)
        for (sink, remark) in zip(shown, remarks) {
            let dead = String(sink.count.dead)
            let row = [
                StyledText(sink.name), StyledText(sink.activity.lastSentAt?.relative(to: now) ?? "-"),
                StyledText(String(sink.activity.sent)), StyledText(String(sink.count.pending)),
                sink.count.dead > 0 ? palette.paint(dead, .bad) : StyledText(dead),
            ]
            table.add(row + (hasRemarks ? [remark] : []))
        }
        return table.lines(within: width, shrinking: hasRemarks ? [5, 0] : [0]) + rest(of: facts.sinks)
    }

    private func remark(on sink: SinkStatus) -> StyledText {
        let remarks = sink.isInsecure ? ["TLS is not checked (insecure)"] : []
        let note = StyledText(remarks.joined(separator: "; "))
        if let stop = sink.stop {
            return palette.paint(stop.kind.word, .bad) + (remarks.isEmpty ? note : StyledText("; ") + note)
        }
        return note
    }

    private var silences: [StyledText] {
        guard !facts.silences.isEmpty else { return [] }
        var table = TextTable(["SILENCE", "WHAT"], palette)
        for silence in shown(of: facts.silences) {
            table.add(["\(silence.id)", localized(silence.description)])
        }
        return table.lines(within: width, shrinking: [1]) + rest(of: facts.silences)
    }

    /// Lists what rules wait for.
    private var timers: [StyledText] {
        guard !facts.timers.isEmpty else { return [] }
        let rules = Dictionary(facts.rules.map { ($0.name, $0) }) { first, _ in first }
        var table = TextTable(["RULE", "WAITS", "DUE"], palette)
        for timer in shown(of: facts.timers) {
            let text = timer.waitingText(of: rules[timer.key.rule], at: now) ?? ""
            let due = timer.waitingUntil.map { $0 > now ? "\(time($0)), \($0.relative(to: now))" : "now" }
            table.add([timer.key.rule, text, due ?? ""])
        }
        return table.lines(within: width, shrinking: [1, 0]) + rest(of: facts.timers)
    }

    private var warnings: [StyledText] {
        let all = facts.warnings
        return shown(of: all).flatMap {
            wrapped(palette.paint("warning", .doubtful) + StyledText(": \($0)"), hanging: 2)
        } + rest(of: all)
    }

    private var sources: [StyledText] {
        guard isWhole || facts.sources.count <= StatusScreen.mostSources else {
            return [
                fitted(StyledText("`vedette status --all` lists the sources, `vedette status SOURCE` shows one"))
            ]
        }
        guard !facts.sources.isEmpty else { return [] }
        let remarks = facts.sources.map { $0.remarks(now: now).joined(separator: "; ") }
        let hasRemarks = remarks.contains { !$0.isEmpty }
        var heading = ["SOURCE", "HEALTH", "ITEMS", "LAST", "NEXT", "STATES"]
        if hasRemarks { heading.append("REMARK") }
        var table = TextTable(heading, palette)
        for (source, remark) in zip(facts.sources, remarks) {
            let times = PollTimes(source, isWatching: facts.watcher != nil, now: now)
            var row = [
                StyledText(source.name),
                palette.paint(source.health.rawValue, Palette.role(of: source.health.meaning) ?? .faint),
                StyledText(source.record?.snapshot.map { "\($0.count)" } ?? "-"),
                StyledText(times.last?.relative(to: now) ?? "-"), StyledText(text(ofNext: times)),
                StyledText(source.states.isEmpty ? "-" : source.states, limit: TextTable.limit),
            ]
            if hasRemarks { row.append(StyledText(remark, limit: TextTable.limit)) }
            table.add(row)
        }
        return table.lines(within: width, shrinking: hasRemarks ? [6, 5, 0] : [5, 0])
    }

    private func text(ofNext times: PollTimes) -> String {
        if times.isPushed { return "pushed" }
        guard let next = times.next else { return "-" }
        let text = next <= now ? "now" : next.relative(to: now)
        return times.isDelayedByServer ? "\(text) (Retry-After)" : text
    }

    /// Everything about one source.
    private func block(_ source: SourceStatus) -> [StyledText] {
        let (record, times) = (source.record, PollTimes(source, isWatching: facts.watcher != nil, now: now))
        let every = DurationText.long(seconds: source.every.inSeconds)
        var rows: [(String, StyledText)] = []
        let since = source.troubledSince.map { " since \(time($0)) (\(age($0)))" } ?? ""
        rows.append(
            (
                "health",
                palette.paint(source.health.rawValue, Palette.role(of: source.health.meaning) ?? .faint)
                    + StyledText(since)
            ))
        if let problem = record?.health.problem {
            rows.append(("cause", StyledText(localized("\(problem.detail) [\(problem.failure)]"))))
        }
        if let failures = record?.health.failures, failures > 0 {
            rows.append(("failed polls", StyledText("\(failures)")))
        }
        func add(_ name: String, _ at: Timestamp?) {
            if let at { rows.append((name, StyledText("\(time(at)), \(at.relative(to: now))"))) }
        }
        add("last poll", times.last)
        add("last good", times.lastGood)
        if times.isPushed || times.next != nil { rows.append(("next poll", StyledText(text(ofNext: times)))) }
        if let head = record?.snapshot {
            rows.append(("items", StyledText("\(head.count)" + (source.states.isEmpty ? "" : ": \(source.states)"))))
        }
        rows += source.remarks(now: now).map { ("remark", StyledText($0)) }
        rows += facts.silences.filter { $0.source != nil && $0.covers(source: source.name) }.map {
            ("silence \($0.id)", StyledText(localized($0.description)))
        }
        let indent = 2 + (rows.map(\.0.count).max() ?? 0) + 2
        let definition = source.kindName.isEmpty ? "" : "  \(source.kindName), \(source.polled(every: every))"
        return [palette.paint(source.name, .strong) + StyledText(definition)]
            + rows.flatMap { name, value in
                wrapped(StyledText("  \(name)").padded(to: indent) + value, hanging: indent)
            }
    }

    // MARK: Layout

    private func shown<Row>(of all: [Row]) -> ArraySlice<Row> {
        isWhole ? all[...] : all.prefix(StatusScreen.mostRows)
    }

    /// Counts the rows that are not shown.
    private func rest<Row>(of all: [Row]) -> [StyledText] {
        let count = all.count - shown(of: all).count
        return count > 0 ? [fitted(StyledText("and \(count) more: vedette status --all"))] : []
    }

    private func age(_ since: Timestamp) -> String {
        DurationText.long(seconds: max(0, now.seconds(since: since)))
    }

    private func fitted(_ line: StyledText) -> StyledText { width.map { line.truncated(to: $0) } ?? line }

    private func joined(_ parts: [StyledText], _ separator: String) -> StyledText {
        parts.dropFirst().reduce(parts.first ?? StyledText("")) { $0 + StyledText(separator) + $1 }
    }

    /// Sets sentences one after another, as many on a line as fit beside the indentation.
    private func flowed(_ sentences: [String], _ indent: Int) -> [StyledText] {
        let room = width.map { max(1, $0 - indent) } ?? .max
        var lines: [StyledText] = []
        for sentence in sentences {
            let text = StyledText(sentence)
            if let last = lines.last, last.width + 2 + text.width <= room {
                lines[lines.count - 1] = last + StyledText("; ") + text
            } else {
                lines.append(text.truncated(to: room))
            }
        }
        return lines
    }

    /// Breaks a line between words where it is wider than the terminal.
    private func wrapped(_ line: StyledText, hanging indent: Int) -> [StyledText] {
        line.wrapped(to: width, hanging: indent).map(fitted)
    }
}
