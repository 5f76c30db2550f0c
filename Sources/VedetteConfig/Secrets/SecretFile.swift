// SPDX-License-Identifier: Apache-2.0

import VedetteSystem

/// A file that holds one secret.
enum SecretFile {
    /// Reads a secret, unless everybody can read or change its file.
    /// - Returns: with a warning when the file's group can.
    static func read(_ path: String) throws(SecretOrigin.Problem) -> SecretOrigin.Answer {
        let name = "the secret file '\(path)'"
        let (value, mode) = try content(of: path, name)
        guard mode & 0o007 == 0 else {
            throw SecretOrigin.Problem(detail: "\(name) can be read or changed by everybody; write 'chmod 600 \(path)'")
        }
        let isShared = mode & 0o070 != 0
        return (value, isShared ? "\(name) can be read by its group; write 'chmod 600 \(path)'" : nil)
    }

    /// Reads a secret from a file. Its mode is returned, not checked.
    /// - Parameter name: of the file, in errors.
    static func content(of path: String, _ name: String) throws(SecretOrigin.Problem) -> (value: String, mode: UInt32) {
        switch BoundedFile.read(path, most: SecretOrigin.maximumSize) {
        case .failure(let problem): throw SecretOrigin.Problem(detail: "\(name) cannot be used: \(problem.detail)")
        case .success(let file):
            guard let text = String(validating: file.bytes, as: UTF8.self) else {
                throw SecretOrigin.Problem(detail: "\(name) is not UTF-8; a secret is one line of text")
            }
            return (try SecretOrigin.check(SecretOrigin.withoutLineEnd(text), name), file.mode)
        }
    }
}
