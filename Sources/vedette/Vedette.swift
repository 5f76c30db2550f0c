// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import VedetteCore
import VedetteSystem

@main
struct Vedette: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vedette",
        abstract: "Watches HTTP sources and tells you what changed.",
        discussion: """
            Documentation: vedette(1) and vedette.yaml(5), and Sources/vedette/Documentation.docc for a page on each part.

            Examples:
              vedette init --url https://www.swift.org/atom.xml
              vedette check && vedette run
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Watch", subcommands: [RunCommand.self, TailCommand.self, WaitCommand.self, PollCommand.self]),
            CommandGroup(
                name: "Look",
                subcommands: [StatusCommand.self, ListCommand.self, ShowCommand.self, ExplainCommand.self]),
            CommandGroup(
                name: "Set up",
                subcommands: [
                    InitCommand.self, ProbeCommand.self, LoginCommand.self, TrustCommand.self, CheckCommand.self,
                    TestCommand.self,
                    ReplayCommand.self,
                    SendCommand.self, SchemaCommand.self, ImportCommand.self, ExportCommand.self,
                ]),
            CommandGroup(
                name: "Quiet",
                subcommands: [SnoozeCommand.self, MuteCommand.self, SilencesCommand.self, AckCommand.self]),
            CommandGroup(
                name: "Repair",
                subcommands: [DoctorCommand.self, OutboxCommand.self, AcceptCommand.self, JournalCommand.self]),
        ])

    @Flag(name: [.customShort("V"), .customLong("version")], help: "Show the version.")
    var isVersionAsked = false

    /// Not in `run`: the flag also counts behind the name of a command, which must not start then.
    func validate() throws {
        if isVersionAsked { throw CleanExit.message(ProgramVersion.number) }
    }

    /// Returns the error about a first word that is no command's name, or one behind `help`. ArgumentParser reports the option
    /// behind it instead, and prints the overview as if it were what was asked for.
    static func unknownCommand(in arguments: [String]) -> Exit? {
        let words = arguments.dropFirst()
        let commands = configuration.groupedSubcommands.flatMap(\.subcommands)
        guard words.first == "help" else { return unknownCommand(words.prefix(1), among: commands) }
        return unknownCommand(words.dropFirst(), among: commands)
    }

    /// - Parameter path: a command, a command of it, and so on, up to the first option.
    private static func unknownCommand(
        _ path: ArraySlice<String>, among commands: [any ParsableCommand.Type]
    ) -> Exit? {
        guard let word = path.first, !word.hasPrefix("-"), word != "help" else { return nil }
        if let command = commands.first(where: { $0.configuration.commandName == word }) {
            return unknownCommand(path.dropFirst(), among: command.configuration.subcommands)
        }
        let guess = suggestion(for: word, among: commands.compactMap { $0.configuration.commandName }).map {
            "did you mean '\($0)'?"
        }
        return Exit(.usage, "there is no command \(quoted(word)); \(guess ?? "`vedette --help` lists all")")
    }

    static func main() async {
        FileDescriptor.openMissingStreams()
        Signals.ignorePipe()
        Signals.collectChildren()
        Children.reapOrphans()
        Allocator.returnLargeBuffers()
        Allocator.keepSmallBuffers()
        do {
            defer { LineWriter.standardError.flush(within: .seconds(1)) }
            if let unknown = unknownCommand(in: CommandLine.arguments) { throw unknown }
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch is Output.Closed {
            // `| head` has seen enough: a success.
        } catch {
            // Help, --version and wrong arguments; whatever ArgumentParser does not know has its code of `failure`.
            if error is ExitCode || exitCode(for: error) != .failure { end(error) }
            let exit = Exit(error)
            let lines = StyledText("vedette: \(exit.description)").wrapped(to: TerminalSize.of(STDERR_FILENO)?.columns)
            // A watcher ends also when nobody reads its standard error.
            LineWriter.standardError.write(lines.map { "\($0.text)\n" }.joined())
            LineWriter.standardError.flush(within: .seconds(1))
            Exit.endProcess(exit.code.rawValue)
        }
        Exit.endProcess()
    }

    /// Prints what ArgumentParser has to tell, such as help or a wrong argument, and ends the program.
    private static func end(_ error: any Error) -> Never {
        let (text, code) = (fullMessage(for: error), exitCode(for: error))
        let isSuccess = code == .success
        let columns = TerminalSize.of(isSuccess ? STDOUT_FILENO : STDERR_FILENO)?.columns
        let lines = text.isEmpty ? [] : ParserMessage.lines(text, columns: columns, isOwn: isSuccess)
        guard isSuccess else {
            for line in lines { Output.diagnose(line) }
            Exit.endProcess(code.rawValue)
        }
        do {
            try Output.print(lines)
        } catch is Output.Closed {
        } catch {
            let exit = Exit(error)
            Output.diagnose("vedette: \(exit.description)")
            Exit.endProcess(exit.code.rawValue)
        }
        Exit.endProcess(code.rawValue)
    }
}
