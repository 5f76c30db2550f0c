// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import VedetteConfig
import VedetteCore

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Store the password of a server, or another secret, so that no file of the configuration has it.",
        discussion: """
            It asks for the password or token without showing it, and stores it where the server's secret says: for \
            {credential: NAME} in the Secret Service of the desktop, where secret-tool (libsecret-tools) is installed, else in \
            a file that only you can read; for {file: PATH} in that file. In a pipe it reads the first line of standard input. \
            It takes the NAME of a {credential: NAME} too, wherever that stands in the configuration: of a sink, or a header.

            Examples:
              vedette login lab
              pass show work/lab | vedette login lab --replace
            """)

    @Argument(
        help: ArgumentHelp("A server of the configuration, or the name of a credential in it.", valueName: "server"),
        completion: Completions.servers)
    var name: String

    @Flag(help: "Replace a secret that is stored already, without a question.")
    var replace = false

    @OptionGroup var places: Paths

    func run() async throws {
        let loader = UserConfiguration.loader(places)
        let credentials = loader.credentials()
        let found = credentials.contains(name) ? .credential(name) : loader.secret(ofServer: name)
        guard let secret = found else {
            throw Exit.unknown("server or credential", name, among: loader.names().servers.union(credentials))
        }
        let store = CredentialStore(ProcessInfo.processInfo.environment)
        switch secret {
        case .credential(let credential):
            try keep(store.place(of: credential)) { try store.store($0, as: credential) }
            await pollRefused(loader.servers(withCredential: credential).union([name]))
        case .file(let path):
            try keep(FileManager.default.fileExists(atPath: path) ? .file(path) : nil) { text in
                try CredentialStore.write(text, to: path)
                return .file(path)
            }
            await pollRefused([name])
        case .environment(let variable, let place):
            throw unstorable("\(place) reads it from the environment variable '\(variable)'")
        case .command(let place): throw unstorable("\(place) reads it from a command, whose store holds it")
        case .literal(let place): throw unstorable("it stands at \(place) itself")
        case .none(let place):
            throw Exit(
                .configuration,
                "the server '\(name)' at \(place) has no secret; add 'user: NAME' and 'password: {credential: \(name)}'"
            )
        }
    }

    private func unstorable(_ reason: String) -> Exit {
        Exit(.configuration, "the secret of \(name) cannot be stored: \(reason); write {credential: \(name)} there")
    }

    /// Lets a running watcher poll the servers' sources that were refused. It reads the new secret then.
    private func pollRefused(_ servers: Set<String>) async {
        guard let journal = places.journalIfKnown, await journal.watcher() != nil,
            let configuration = UserConfiguration.loader(places, secrets: .none).load().configuration
        else { return }
        let sources = Set(configuration.sources.filter { servers.contains($0.server.name) }.map(\.name))
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
            let written = try write(try SecretPrompt.secret("Password of \(name): "))
            Output.diagnose("stored \(written)")
        } catch let problem as CredentialStore.Problem {
            throw Exit(.cannotCreate, problem.description)
        } catch is SecretPrompt.Cancelled {
            throw Exit(.temporary, "cancelled; nothing is stored")
        }
    }

    private func confirm(_ place: CredentialStore.Place) throws {
        guard isatty(STDIN_FILENO) == 1 else {
            throw Exit(.cannotCreate, "a secret of \(name) is stored \(place) already; --replace replaces it")
        }
        guard SecretPrompt.confirms("A secret of \(name) is stored \(place) already. Replace it?") else {
            throw SecretPrompt.Cancelled()
        }
    }
}
