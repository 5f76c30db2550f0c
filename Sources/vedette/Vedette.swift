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
        discussion: "Documentation: the README, and Sources/vedette/Documentation.docc for a page on each part.",
        version: KindRegistry.version,
        subcommands: [
            RunCommand.self, TailCommand.self, StatusCommand.self, ListCommand.self, ShowCommand.self, WaitCommand.self,
            CheckCommand.self, ReplayCommand.self, SendCommand.self, AcceptCommand.self,
            ProbeCommand.self, TrustCommand.self, ExplainCommand.self, TestCommand.self, SnoozeCommand.self,
            MuteCommand.self, SilencesCommand.self, OutboxCommand.self, SchemaCommand.self, DoctorCommand.self,
            JournalCommand.self, InitCommand.self, ImportCommand.self, ExportCommand.self,
        ])

    static func main() async {
        Signals.ignorePipe()
        Signals.collectChildren()
        Allocator.returnLargeBuffers()
        do {
            defer { LineWriter.standardError.flush(within: .seconds(1)) }
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch is Output.Closed {
            // `| head` has seen enough.
            Glibc.exit(0)
        } catch {
            // Help, --version and wrong arguments; whatever ArgumentParser does not know has its code of `failure`.
            if error is ExitCode || exitCode(for: error) != .failure { exit(withError: error) }
            let exit = Exit(error)
            Output.diagnose("vedette: \(exit.description)")
            Glibc.exit(exit.code.rawValue)
        }
    }
}
