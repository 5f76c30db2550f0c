// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads a file that a person names on the command line; `-` is standard input.
enum InputFile {
    /// The largest file in bytes.
    static let maximumSize = 64 << 20

    /// Returns why a file cannot be read, found by opening it once more.
    static func unreadable(_ path: String) -> Exit {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            return Exit(.usage, "failed to open \(path): \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        return Exit(.usage, "failed to read \(path): it is no regular file")
    }

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
        } catch let error as CocoaError {
            throw Exit(.inputOutput, "\(path): failed to read: \(error.localizedDescription)")
        }
        return bytes
    }
}
