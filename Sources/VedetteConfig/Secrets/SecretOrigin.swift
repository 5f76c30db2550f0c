// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore
import VedetteSystem

/// Where a secret is read from: when the configuration is loaded, and again when it is refused.
enum SecretOrigin: Sendable, Hashable {
    case environment(String)
    case file(String)
    /// What `CredentialStore` finds.
    case credential(String)
    case command([String])

    struct Problem: Error {
        /// The error and its remedy, without the secret.
        var detail: String
        /// Whether the program that prints the secret could not be started for want of something.
        var isTemporary = false
    }

    /// The secret, and a warning about the place where it is kept.
    typealias Answer = (value: String, warning: String?)

    /// In bytes.
    static let maximumSize = 64 << 10

    func read(_ environment: [String: String]) throws(Problem) -> Answer {
        switch self {
        case .environment(let name):
            guard let value = environment[name] else {
                throw Problem(detail: "the environment variable '\(name)' is not set; export it")
            }
            return (try SecretOrigin.check(value, "the environment variable '\(name)'"), nil)
        case .file(let path): return try SecretFile.read(path)
        case .credential(let name):
            let store = CredentialStore(environment)
            switch store.file(name) {
            case .systemd(let path):
                let name = "the credential '\(name)'"
                return (try SecretOrigin.line(SecretFile.text(of: path, name).text, name), nil)
            case .file(let path): return try SecretFile.read(path)
            case .secretService, nil: break
            }
            guard let lookup = store.lookup(name) else { throw SecretOrigin.missing(name, store) }
            do throws(Problem) {
                return (try SecretCommand.firstLine(of: lookup, within: SecretCommand.timeLimit), nil)
            } catch { throw problem(error, environment) }
        case .command(let arguments):
            return (try SecretCommand.firstLine(of: arguments, within: SecretCommand.timeLimit), nil)
        }
    }

    /// The program that reads it; nil when none does. Programs run at the same time.
    func program(_ environment: [String: String]) -> [String]? {
        switch self {
        case .command(let arguments): arguments
        case .credential(let name):
            CredentialStore(environment).file(name) == nil ? CredentialStore(environment).lookup(name) : nil
        case .environment, .file: nil
        }
    }

    /// The file that holds it; nil for none.
    func path(_ environment: [String: String]) -> String? {
        switch self {
        case .file(let path): return path
        case .environment, .command: return nil
        case .credential(let name):
            switch CredentialStore(environment).file(name) {
            case .systemd(let path), .file(let path): return path
            case .secretService, nil: return nil
            }
        }
    }

    /// Returns what to tell of a program that failed: the keyring's own program is no word of the configuration.
    func problem(_ problem: Problem, _ environment: [String: String]) -> Problem {
        guard case .credential(let name) = self, !problem.isTemporary else { return problem }
        return SecretOrigin.missing(name, CredentialStore(environment))
    }

    private static func missing(_ name: String, _ store: CredentialStore) -> Problem {
        if let path = store.systemdFile(name) {
            return Problem(
                detail: "the credential '\(name)' does not exist: \(path) is missing; "
                    + "write LoadCredential=\(name):FILE into the unit")
        }
        return Problem(
            detail: "the credential '\(name)' is not stored; `vedette login \(name)` stores it, "
                + "and LoadCredential=\(name):FILE gives it to a systemd unit")
    }

    /// Returns what is there now, read on a thread of its own; nil when it cannot be read.
    func readAgain(_ environment: [String: String]) async -> String? {
        (try? await SystemThread.run { try? read(environment).value }) ?? nil
    }

    /// Returns whether a secret that cannot be read may come without a restart in another environment: its file does not
    /// exist yet, or its command failed.
    func mayAppear(_ environment: [String: String]) -> Bool {
        switch self {
        case .environment: false
        case .file(let path): !FileManager.default.fileExists(atPath: path)
        case .credential(let name): CredentialStore(environment).file(name) == nil
        case .command: true
        }
    }

    static func check(_ value: String, _ name: String) throws(Problem) -> String {
        guard !value.isEmpty else { throw Problem(detail: "\(name) is empty") }
        guard !value.unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" || $0 == "\0" }) else {
            throw Problem(detail: "\(name) holds a line end or NUL; a secret is one line of text")
        }
        return value
    }

    /// Checks the text of a file, or what a program printed: editors and `echo` end it with a line end, which is no part of the
    /// secret.
    static func line(_ text: String, _ name: String) throws(Problem) -> String {
        var scalars = text.unicodeScalars
        while let last = scalars.last, last == "\n" || last == "\r" { scalars.removeLast() }
        return try check(String(scalars), name)
    }
}
