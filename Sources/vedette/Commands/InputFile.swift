// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Reads a file that a person names on the command line; `-` is standard input.
enum InputFile {
    /// The largest file in bytes.
    static let maximumSize = 64 << 20

    /// Opens a file once more that could not be read, and returns why it cannot.
    private static func unreadable(_ path: String) -> Exit {
        // Without O_NONBLOCK a pipe that nobody writes to would hang here.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            // What open(2) says of a socket is "No such device or address".
            return unreadable(path, errno == ENXIO ? "it is no regular file" : String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return unreadable(path, String(cString: strerror(errno))) }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFDIR { return unreadable(path, String(cString: strerror(EISDIR))) }
        guard kind == S_IFREG else { return unreadable(path, "it is no regular file") }
        var byte: UInt8 = 0
        guard read(descriptor, &byte, 1) >= 0 else { return unreadable(path, String(cString: strerror(errno))) }
        return unreadable(path, "it can be read now; try again")
    }

    private static func unreadable(_ path: String, _ cause: String) -> Exit {
        Exit(.usage, "failed to read \(path): \(cause)")
    }

    /// Returns the bytes of a file or a pipe.
    static func bytes(_ path: String) throws -> [UInt8] {
        guard let handle = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path) else {
            throw unreadable(path)
        }
        var bytes: [UInt8] = []
        do {
            while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty {
                bytes += piece
                if bytes.count > maximumSize {
                    throw Exit(.data, "\(path) is larger than \(maximumSize >> 20) MiB")
                }
            }
        } catch is CocoaError {
            throw unreadable(path)
        }
        return bytes
    }
}
