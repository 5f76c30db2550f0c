// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A file that is read as a whole, up to a maximum size.
struct BoundedFile {
    var bytes: [UInt8]
    /// The permission bits of the file.
    var mode: UInt32

    /// Why it cannot be read.
    struct Problem: Error {
        var detail: String
    }

    /// Reads a regular file of at most `most` bytes.
    static func read(_ path: String, most: Int) -> Result<BoundedFile, Problem> {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(problem(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .failure(problem(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .failure(Problem(detail: "this is not a regular file")) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= most {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return .failure(problem(errno)) }
            if count == 0 { return .success(BoundedFile(bytes: bytes, mode: UInt32(status.st_mode) & 0o777)) }
            bytes += buffer[..<count]
        }
        return .failure(Problem(detail: "this file is larger than \(most) bytes; split it"))
    }

    private static func problem(_ code: Int32) -> Problem {
        let reason =
            switch code {
            case ENOENT: "this file does not exist"
            case EACCES, EPERM: "this file cannot be read: permission denied; check its owner and mode"
            default: "this file cannot be read: \(String(cString: strerror(code)))"
            }
        return Problem(detail: reason)
    }
}
