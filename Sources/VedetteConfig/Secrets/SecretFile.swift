// SPDX-License-Identifier: Apache-2.0

import VedetteSystem

/// A file that holds a secret.
enum SecretFile {
    /// Reads the secret that is all of a file, unless everybody can read or change that.
    /// - Returns: with a warning when the file's group can.
    static func read(_ path: String) throws(SecretOrigin.Problem) -> SecretOrigin.Answer {
        let name = "the secret file '\(path)'"
        let (text, warning) = try privateText(of: path, name)
        return (try SecretOrigin.line(text, name), warning)
    }

    /// Reads a file with secrets in the same way.
    /// - Parameter name: of the file, in errors.
    static func privateText(
        of path: String, _ name: String, most: Int = SecretOrigin.maximumSize
    ) throws(SecretOrigin.Problem) -> (text: String, warning: String?) {
        let (text, mode) = try text(of: path, name, most: most)
        guard mode & 0o007 == 0 else {
            throw SecretOrigin.Problem(detail: "\(name) can be read or changed by everybody; write 'chmod 600 \(path)'")
        }
        return (text, mode & 0o070 != 0 ? "\(name) can be read by its group; write 'chmod 600 \(path)'" : nil)
    }

    /// Reads a file. Its mode is returned, not checked.
    static func text(
        of path: String, _ name: String, most: Int = SecretOrigin.maximumSize
    ) throws(SecretOrigin.Problem) -> (text: String, mode: UInt32) {
        switch BoundedFile.read(path, most: most) {
        case .failure(let problem): throw SecretOrigin.Problem(detail: "\(name) cannot be used: \(problem.detail)")
        case .success(let file):
            guard let text = String(validating: file.bytes, as: UTF8.self) else {
                throw SecretOrigin.Problem(detail: "\(name) is not UTF-8; save it as UTF-8")
            }
            return (text, file.mode)
        }
    }
}
