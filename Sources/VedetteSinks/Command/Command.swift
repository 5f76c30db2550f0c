// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import VedetteCore

/// Runs a program for each message: its arguments as they are written, never through a shell.
enum CommandKind {
    static let entry = SinkKindEntry(
        name: "command", summary: "Runs a program for each message.",
        options: [
            OptionSpec(
                "command", .list(.text), "The program and its arguments; no shell reads them.", required: true),
            OptionSpec("directory", .text, "Where it runs, absolute.", default: "that of the watcher"),
            OptionSpec("environment", .map(.text), "Further variables, beside those of the watcher and `VEDETTE_…`."),
            OptionSpec(
                "timeout", .duration, "How long it may take; then it and its children are ended.", default: "30s"),
        ],
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
        if directory != nil, program.contains("=") {
            throw OptionProblem("command", detail: "names a program with `=`, which cannot stand beside `directory`")
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

extension CommandSettings {
    /// Swift cannot tell a child where to run (posix_spawn_file_actions_addchdir_np(3)); env(1) of coreutils can.
    var words: [String] { (directory.map { ["/usr/bin/env", "-C", $0] } ?? []) + arguments }
}

final class CommandSink: Sink {
    private let settings: CommandSettings

    init(settings: CommandSettings) { self.settings = settings }

    func deliver(_ message: Message) async -> Outcome {
        let child = ChildRun(
            arguments: settings.words,
            environment: Self.inherited() + Self.variables(of: message) + settings.environment,
            input: message.event.json.bytes + [10], limit: settings.timeout)
        return await withTaskCancellationHandler {
            Self.judge(await child.result(), settings.timeout)
        } onCancel: {
            child.cancel()
        }
    }

    /// sysexits.h: 75 is "try again later".
    private static func judge(_ end: ChildRun.End, _ limit: Duration) -> Outcome {
        switch end {
        case .exited(0, _): return .delivered
        case .exited(75, let words):
            return .retry(reason: "the command asked for another attempt" + said(words), after: nil)
        case .exited(let status, let words) where status == 126 || status == 127:
            return .paused(reason: "the command cannot be run (exit status \(status))" + said(words))
        case .exited(let status, let words):
            return .rejected(reason: "the command failed with exit status \(status)" + said(words))
        case .killed(let signal, let words):
            return .retry(reason: "the command was ended by signal \(signal)" + said(words), after: nil)
        case .late:
            return .retry(
                reason: "the command took longer than \(MessageFormatter.duration(seconds: limit.inSeconds))",
                after: nil)
        case .lost: return .retry(reason: "the command ended, but its exit status was lost", after: nil)
        case .cancelled: return .retry(reason: "stopped before the command ended", after: nil)
        case .notStarted(let code):
            return .paused(reason: "the command cannot be run: \(String(cString: strerror(code))); check path and mode")
        }
    }

    /// The last line that it printed.
    private static func said(_ output: [UInt8]) -> String {
        let line = output.split(separator: 10).last.map {
            TerminalText.safe(String(decoding: $0, as: UTF8.self), limit: 200)
        }
        return line.map { ": " + $0 } ?? ""
    }

    /// What systemd tells the watcher is not meant for its children.
    private static func inherited() -> [(name: String, value: String)] {
        let own: Set = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"]
        var (variables, next) = ([(name: String, value: String)](), environ)
        while let variable = next.pointee {
            let parts = String(cString: variable).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, !own.contains(String(parts[0])), !parts[0].hasPrefix("VEDETTE_") {
                variables.append((String(parts[0]), String(parts[1])))
            }
            next += 1
        }
        return variables
    }

    private static func variables(of message: Message) -> [(name: String, value: String)] {
        let (event, item) = (message.event, message.event.item)
        let change = MessageFormatter.mainChange(of: event)
        let all: [(String, String?)] = [
            ("MESSAGE_ID", message.id), ("RULE", message.rule), ("TITLE", message.title), ("TEXT", message.text),
            ("PRIORITY", message.priority.rawValue), ("EVENT_ID", event.id.description), ("TYPE", event.kind.rawValue),
            ("SOURCE", event.source), ("KEY", item?.key), ("NAME", item?.title), ("STATE", item?.state),
            ("URL", item?.url), ("FIELD", change?.field), ("FROM", change?.from?.description),
            ("TO", change?.to?.description),
        ]
        return all.compactMap { name, value in value.map { (name: "VEDETTE_" + name, value: cut($0)) } }
    }

    /// A variable ends at a NUL, and the kernel takes 128 KiB of one.
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
