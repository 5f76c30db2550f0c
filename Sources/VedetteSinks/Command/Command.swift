// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSystem

/// Runs a program for each message, with the arguments of the configuration and without a shell.
enum CommandKind {
    static let entry = SinkKindEntry(
        name: "command", summary: "Runs a program for each message.",
        options: [
            OptionSpec(
                "command", .list(.text), "The program and its arguments; no shell reads them.", required: true),
            OptionSpec("directory", .text, "Where it runs, absolute.", default: "the watcher's"),
            OptionSpec(
                "environment", .map(.text), "Further variables, which win over inherited ones; `VEDETTE_…` are added."),
            OptionSpec(
                "timeout", .duration, "How long it may take; then it and its children are ended.", default: "30s"),
        ],
        isEventSink: true, isLocal: true,
        make: { options throws(OptionProblem) in
            let settings = try CommandSettings(options)
            return { _, _ in CommandSink(settings: settings) }
        })
}

struct CommandSettings: Sendable {
    var arguments: [String]
    var directory: String?
    var environment: [(name: String, value: String)]
    var timeout: Duration

    init(_ options: Options) throws(OptionProblem) {
        arguments = options.texts("command")
        directory = try options.line("directory")
        environment = options.map("environment")
        timeout = options.duration("timeout") ?? .seconds(30)
        guard let program = arguments.first, !program.isEmpty, !arguments.contains(where: { $0.utf8.contains(0) })
        else {
            throw OptionProblem("command", detail: "is a list of a program and its arguments, as [logger, -t, vedette]")
        }
        if directory?.hasPrefix("/") == false {
            throw OptionProblem("directory", detail: "must be an absolute path")
        }
        guard timeout >= .milliseconds(1), timeout <= .seconds(600) else {
            throw OptionProblem("timeout", detail: "must be longer than nothing and at most 10m")
        }
        for (name, value) in environment {
            let isName = HTTPSyntax.isWord(name) && !name.contains("-") && !name.isEmpty
            guard isName, !name.hasPrefix("VEDETTE_"), !value.utf8.contains(0) else {
                throw OptionProblem(
                    "environment", name, detail: "is no name of its own: letters, digits and `_`, not VEDETTE_…")
            }
        }
    }
}

/// Runs the program once per message and turns its exit into an outcome.
final class CommandSink: Sink {
    private let settings: CommandSettings

    init(settings: CommandSettings) { self.settings = settings }

    func deliver(_ message: Message) async -> Outcome {
        var command = ChildCommand(settings.arguments, timeLimit: settings.timeout)
        for (name, value) in Self.variables(of: message) + settings.environment { command.environment[name] = value }
        command.directory = settings.directory
        command.input = message.json.bytes + [10]
        (command.output, command.errorOutput) = (Self.outputLimit, Self.outputLimit)
        do throws(ChildProcess.Failure) {
            return Self.outcome(of: try await ChildProcess(command).run())
        } catch {
            return Self.outcome(of: error, within: settings.timeout)
        }
    }

    /// Returns the outcome of a run without a result. The program did not start where it could not be started for want of
    /// something, so another attempt sends nothing twice.
    static func outcome(of failure: ChildProcess.Failure, within limit: Duration) -> Outcome {
        switch failure {
        case .cannotStart(let code) where failure.isTemporary:
            .retry(reason: "the command could not be started: \(String(cString: strerror(code)))", after: nil)
        case .cannotStart(let code):
            .paused(reason: "the command cannot be run: \(String(cString: strerror(code))); check path and mode")
        case .timedOut, .tooMuchOutput:
            .retry(
                reason: "the command took longer than \(DurationText.long(seconds: limit.inSeconds))", after: nil)
        case .cancelled: .retry(reason: "stopped before the command ended", after: nil)
        }
    }

    private static let outputLimit = ChildCommand.OutputLimit(64 << 10, .dropsBeginning)

    /// sysexits.h: 75 means "try again later".
    private static func outcome(of run: ChildProcess.Output) -> Outcome {
        let words = lastLine(of: run)
        switch run.exit {
        case .status(0): return .delivered
        case .status(75): return .retry(reason: "the command asked for another attempt" + words, after: nil)
        case .status(let status) where status == 126 || status == 127:
            return .paused(reason: "the command cannot be run (exit status \(status))" + words)
        case .status(let status): return .rejected(reason: "the command failed with exit status \(status)" + words)
        case .signal(let signal): return .retry(reason: "the command was ended by signal \(signal)" + words, after: nil)
        case .unknown: return .retry(reason: "the command ended, but its exit status was lost", after: nil)
        }
    }

    /// Returns the last line of standard error, else of standard output, as the end of a reason.
    private static func lastLine(of run: ChildProcess.Output) -> String {
        let line = [run.errorOutput, run.output].lazy.compactMap { $0.split(separator: 10).last }.first
        return line.map { ": " + TerminalText.safe(String(decoding: $0, as: UTF8.self), limit: 200) } ?? ""
    }

    private static func variables(of message: Message) -> [(name: String, value: String)] {
        let (event, item) = (message.event, message.event.item)
        let change = message.change
        let all: [(String, String?)] = [
            ("MESSAGE_ID", message.id), ("RULE", message.rule), ("TITLE", message.title), ("TEXT", message.text),
            ("PRIORITY", message.priority.rawValue), ("EVENT_ID", event.id.description), ("TYPE", event.type),
            ("SOURCE", event.source), ("KEY", item?.key), ("NAME", item?.title), ("STATE", item?.state),
            ("URL", item?.url), ("FIELD", change?.field), ("FROM", change?.from?.description),
            ("TO", change?.to?.description),
            ("TAGS", message.tags.isEmpty ? nil : message.tags.joined(separator: ",")),
            ("SUPPRESSED", message.suppressed == 0 ? nil : String(message.suppressed)),
            ("RESOLVED", event.isEnd ? "true" : nil),
            ("COUNT", event.summary.map { String($0.count) }),
            ("LINES", event.summary.flatMap { $0.lines.isEmpty ? nil : $0.lines.joined(separator: "\n") }),
        ]
        return all.compactMap { name, value in value.map { (name: "VEDETTE_" + name, value: cut($0)) } }
    }

    /// Cuts a value before a NUL, which ends a variable, and at 32 KiB; the kernel takes 128 KiB.
    private static func cut(_ text: String) -> String {
        var (out, size) = (String.UnicodeScalarView(), 0)
        for scalar in text.unicodeScalars {
            size += UTF8.width(scalar)
            if scalar.value == 0 || size > 32_768 { break }
            out.append(scalar)
        }
        return String(out)
    }
}
