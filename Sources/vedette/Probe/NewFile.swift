// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A file of the configuration that does not exist yet.
enum NewFile {
    /// Creates a directory that only its owner can enter, with those above it.
    static func makeDirectory(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Exit(.cannotCreate, "failed to make \(path): \(error.localizedDescription)")
        }
    }

    /// Writes a file that only its owner can read, and never over another one.
    static func write(_ text: String, to path: String) throws {
        // Exclusive, so that a file of another process is not overwritten.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { throw Exit(.cannotCreate, "\(path) exists already; choose another name") }
            throw Exit(.cannotCreate, "failed to make \(path): \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(text.utf8))
        } catch {
            unlink(path)
            throw Exit(.inputOutput, "failed to write \(path): \(error.localizedDescription)")
        }
    }
}
