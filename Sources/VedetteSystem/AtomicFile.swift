// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Replaces files in one step, so that a reader gets the old content or the new one.
public enum AtomicFile {
    /// An error of the system.
    public struct Failure: Error, Sendable {
        /// The value of `errno`.
        public let code: Int32

        /// The system's description.
        public var reason: String { String(cString: strerror(code)) }
    }

    /// Writes a temporary file in the same folder and renames it (rename(2)).
    /// - Parameters:
    ///   - mode: the permissions of the file.
    ///   - keepsOwner: whether the owner of the file before is kept, where this process may do so.
    public static func write(
        _ bytes: [UInt8], to path: String, mode: UInt32, keepsOwner: Bool = false
    ) throws(Failure) {
        var template = Array("\(path).XXXXXX".utf8CString)
        // mkstemp(3) creates the file with mode 0600.
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        let temporary = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var status = stat()
        if keepsOwner, stat(path, &status) == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
        let isWritten =
            fchmod(descriptor, mode) == 0 && FileDescriptor.writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
        var code = errno
        close(descriptor)
        if isWritten, rename(temporary, path) == 0 { return }
        if isWritten { code = errno }
        unlink(temporary)
        throw Failure(code: code)
    }
}
