// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteSystem

/// Where the secret of `{credential: NAME}` is kept: in `$CREDENTIALS_DIRECTORY` by systemd (systemd.exec(5)), in a file of
/// this user, or in the Secret Service of the desktop, which `secret-tool` reaches. They are searched in this order.
public struct CredentialStore: Sendable {
    /// A failure to store a secret.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        /// The error and its remedy, without the secret.
        public var description: String
    }

    /// Where a secret is.
    public enum Place: Sendable, Hashable, CustomStringConvertible {
        /// A file of systemd, which this program does not write.
        case systemd(String)
        /// A file of this user.
        case file(String)
        /// The keyring of the desktop.
        case secretService

        /// For a sentence: `in /home/a/.config/vedette/credentials/lab`.
        public var description: String {
            switch self {
            case .systemd(let path), .file(let path): "in \(path)"
            case .secretService: "in the Secret Service"
            }
        }
    }

    /// Longer than a person needs to unlock a keyring.
    static let writeLimit = Duration.seconds(60)

    private let environment: [String: String]

    /// - Parameter environment: the variables of the process.
    public init(_ environment: [String: String]) { self.environment = environment }

    /// Returns the file of systemd or of this user that holds the credential; nil when there is none.
    func file(_ name: String) -> Place? {
        if let path = systemdFile(name), FileManager.default.fileExists(atPath: path) { return .systemd(path) }
        guard let path = ownFile(name), FileManager.default.fileExists(atPath: path) else { return nil }
        return .file(path)
    }

    /// The file where systemd puts the credential; nil outside a unit.
    func systemdFile(_ name: String) -> String? {
        environment["CREDENTIALS_DIRECTORY"].flatMap { $0.isEmpty ? nil : "\($0)/\(name)" }
    }

    /// The program that prints the credential from the Secret Service; nil where there is no program or no session bus.
    func lookup(_ name: String) -> [String]? {
        secretTool.map { [$0, "lookup"] + CredentialStore.attributes(name) }
    }

    private static func attributes(_ name: String) -> [String] { ["service", "vedette", "credential", name] }

    /// The path of `secret-tool`. Without a session bus it would start one that ends with it.
    private var secretTool: String? {
        let hasBus =
            environment["DBUS_SESSION_BUS_ADDRESS"].map { !$0.isEmpty }
            ?? environment["XDG_RUNTIME_DIR"].map { FileManager.default.fileExists(atPath: $0 + "/bus") } ?? false
        guard hasBus else { return nil }
        return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/secret-tool" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private func ownFile(_ name: String) -> String? {
        if let home = environment["XDG_CONFIG_HOME"], home.hasPrefix("/") {
            return "\(home)/vedette/credentials/\(name)"
        }
        return environment["HOME"].map { "\($0)/.config/vedette/credentials/\(name)" }
    }

    /// Returns where a credential is stored; nil when it is nowhere.
    public func place(of name: String) -> Place? {
        if let place = file(name) { return place }
        guard let lookup = lookup(name) else { return nil }
        let value = try? SecretCommand.firstLine(of: lookup, within: CredentialStore.writeLimit)
        return value == nil ? nil : .secretService
    }

    /// Stores a credential where it is already, else in the Secret Service, else in a file that only this user can read.
    public func store(_ secret: String, as name: String) throws(Problem) -> Place {
        switch file(name) {
        case .systemd(let path):
            throw Problem(description: "\(path) belongs to systemd; change what LoadCredential= of the unit names")
        case .file(let path):
            try CredentialStore.write(secret, to: path)
            return .file(path)
        case .secretService, nil: break
        }
        if let secretTool, store(secret, name, with: secretTool) { return .secretService }
        guard let path = ownFile(name) else {
            throw Problem(description: "neither $XDG_CONFIG_HOME nor $HOME is set, so that no file can hold it")
        }
        try CredentialStore.write(secret, to: path)
        return .file(path)
    }

    private func store(_ secret: String, _ name: String, with secretTool: String) -> Bool {
        var command = ChildCommand(
            [secretTool, "store", "--label=Vedette: \(name)"] + CredentialStore.attributes(name),
            timeLimit: CredentialStore.writeLimit)
        // Never as an argument, which every process can read.
        command.input = Array(secret.utf8)
        guard let output = try? ChildProcess(command).runBlocking(), case .status(0) = output.exit else { return false }
        return true
    }

    /// Writes a file with mode 0600 in one step, so that a reader gets the old secret or the new one.
    public static func write(_ secret: String, to path: String) throws(Problem) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Problem(description: "failed to make \(folder): \(error.localizedDescription)")
        }
        do throws(AtomicFile.Failure) {
            try AtomicFile.write(Array("\(secret)\n".utf8), to: path, mode: 0o600)
        } catch {
            throw Problem(description: "failed to write \(path): \(error.reason)")
        }
    }
}
