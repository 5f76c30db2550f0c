// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore

/// Where a secret is read from; read at load, and again after a 401.
enum SecretOrigin: Sendable, Hashable {
    case environment(String)
    case file(String)
    /// A file in `$CREDENTIALS_DIRECTORY` (systemd.exec(5)).
    case credential(String)
    case command([String])

    struct Problem: Error {
        /// What is wrong and the remedy; never what was read.
        var detail: String
    }

    /// What was read, and what is doubtful about the place.
    typealias Answer = (value: String, warning: String?)

    static let maximumSize = 64 << 10

    func read(_ environment: [String: String]) throws(Problem) -> Answer {
        switch self {
        case .environment(let name):
            guard let value = environment[name] else {
                throw Problem(detail: "the environment variable '\(name)' is not set; export it")
            }
            return (try SecretOrigin.check(value, "the environment variable '\(name)'"), nil)
        case .file(let path): return try SecretOrigin.read(path)
        case .credential(let name):
            guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else {
                throw Problem(
                    detail: "the credential '\(name)' cannot be read: $CREDENTIALS_DIRECTORY is not set; "
                        + "run as a systemd unit with LoadCredential=\(name):FILE, or write {file: PATH}")
            }
            return (try SecretOrigin.content(of: directory + "/" + name, "the credential '\(name)'").value, nil)
        case .command(let arguments):
            let name = "the command '\(arguments[0])'"
            switch ChildProcess.firstLine(of: arguments, within: .seconds(10), most: SecretOrigin.maximumSize) {
            case .success(let line): return (try SecretOrigin.check(line, "what \(name) printed"), nil)
            case .failure(let problem): throw Problem(detail: "\(name) \(problem.detail)")
            }
        }
    }

    private static func read(_ path: String) throws(Problem) -> Answer {
        let name = "the secret file '\(path)'"
        let (value, mode) = try content(of: path, name)
        guard mode & 0o007 == 0 else {
            throw Problem(detail: "\(name) can be read or changed by everybody; write 'chmod 600 \(path)'")
        }
        let isShared = mode & 0o070 != 0
        return (value, isShared ? "\(name) can be read by its group; write 'chmod 600 \(path)'" : nil)
    }

    private static func content(of path: String, _ name: String) throws(Problem) -> (value: String, mode: UInt32) {
        switch BoundedFile.read(path, most: maximumSize) {
        case .failure(let problem): throw Problem(detail: "\(name) cannot be used: \(problem.detail)")
        case .success(let file):
            guard let text = String(validating: file.bytes, as: UTF8.self) else {
                throw Problem(detail: "\(name) is not UTF-8; a secret is one line of text")
            }
            return (try check(withoutLineEnd(text), name), file.mode)
        }
    }

    /// Editors and `echo` end a file with a line end, which is no part of the secret.
    static func withoutLineEnd(_ text: String) -> String {
        var scalars = text.unicodeScalars
        while let last = scalars.last, last == "\n" || last == "\r" { scalars.removeLast() }
        return String(scalars)
    }

    private static func check(_ value: String, _ name: String) throws(Problem) -> String {
        guard !value.isEmpty else { throw Problem(detail: "\(name) is empty") }
        guard !value.unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" || $0 == "\0" }) else {
            throw Problem(detail: "\(name) holds a line end or NUL; a secret is one line of text")
        }
        return value
    }
}
