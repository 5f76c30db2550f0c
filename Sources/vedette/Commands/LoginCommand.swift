// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import VedetteConfig
import VedetteCore

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Store the password of a server, so that no file of the configuration has it.",
        discussion: """
            It asks for the password or token without showing it, and stores it where the server's secret says: for \
            {credential: NAME} in the Secret Service of the desktop, where secret-tool (libsecret-tools) is installed, else in \
            a file that only you can read; for {file: PATH} in that file. In a pipe it reads the first line of standard input.

            Examples:
              vedette login lab
              pass show work/lab | vedette login lab --replace
            """)

    @Argument(help: "A server of the configuration.", completion: Completions.servers)
    var server: String

    @Flag(help: "Replace a secret that is stored already, without a question.")
    var replace = false

    @OptionGroup var places: Paths

    func run() async throws {
        let loader = UserConfiguration.loader(places)
        guard let secret = loader.secret(ofServer: server) else {
            throw Exit.unknown("server", server, among: loader.names().servers)
        }
        let store = CredentialStore(ProcessInfo.processInfo.environment)
        switch secret {
        case .credential(let name):
            try keep(store.place(of: name)) { try store.store($0, as: name) }
            await pollRefused()
        case .file(let path):
            try keep(FileManager.default.fileExists(atPath: path) ? .file(path) : nil) { text in
                try CredentialStore.write(text, to: path)
                return .file(path)
            }
            await pollRefused()
        case .environment(let variable, let place):
            throw unstorable("\(place) reads it from the environment variable '\(variable)'")
        case .command(let place): throw unstorable("\(place) reads it from a command, whose store holds it")
        case .literal(let place): throw unstorable("it stands at \(place) itself")
        case .none(let place):
            throw Exit(
                .configuration,
                "the server '\(server)' at \(place) has no secret; add 'user: NAME' and 'password: {credential: \(server)}'"
            )
        }
    }

    private func unstorable(_ reason: String) -> Exit {
        Exit(.configuration, "the secret of \(server) cannot be stored: \(reason); write {credential: \(server)} there")
    }

    /// Lets a running watcher poll the server's sources that were refused. It reads the new secret then.
    private func pollRefused() async {
        guard let journal = places.journalIfKnown, await journal.watcher() != nil,
            let configuration = UserConfiguration.loader(places, secrets: .none).load().configuration
        else { return }
        let sources = Set(configuration.sources.filter { $0.server.name == server }.map(\.name))
        do throws(JournalError) {
            let refused = try await journal.reader().sourceRecords()
                .filter { sources.contains($0.name) && $0.health.isRefused }.map(\.name)
            for source in refused { try await journal.poll(source: source, at: SystemClock().now().wall) }
            if !refused.isEmpty { Output.diagnose("the watcher polls \(refused.joined(separator: ", ")) now") }
        } catch {
            Output.diagnose(
                "failed to ask the watcher for a poll: \(error.detail); it reads the secret at the next one")
        }
    }

    /// Asks for the secret and stores it.
    /// - Parameter place: where one is stored already.
    private func keep(_ place: CredentialStore.Place?, _ write: (String) throws -> CredentialStore.Place) throws {
        do {
            if let place, !replace { try confirm(place) }
            let written = try write(try SecretPrompt.secret("Password of \(server): "))
            Output.diagnose("stored \(written)")
        } catch let problem as CredentialStore.Problem {
            throw Exit(.cannotCreate, problem.description)
        } catch is SecretPrompt.Cancelled {
            throw Exit(.temporary, "cancelled; nothing is stored")
        }
    }

    private func confirm(_ place: CredentialStore.Place) throws {
        guard isatty(STDIN_FILENO) == 1 else {
            throw Exit(.cannotCreate, "a secret of \(server) is stored \(place) already; --replace replaces it")
        }
        guard SecretPrompt.confirms("A secret of \(server) is stored \(place) already. Replace it?") else {
            throw SecretPrompt.Cancelled()
        }
    }
}
