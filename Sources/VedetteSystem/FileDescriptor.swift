// SPDX-License-Identifier: Apache-2.0

import CSystem
public import Glibc

/// Calls on a file descriptor.
public enum FileDescriptor {
    /// Writes all bytes, however many calls that needs.
    /// - Returns: false after an error, which is in `errno`.
    @discardableResult
    public static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                waitUntilWritable(descriptor)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Waits where a write returned EAGAIN: another process that shares the terminal or pipe may have made it non-blocking.
    public static func waitUntilWritable(_ descriptor: Int32) {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wait, 1, -1)
    }

    /// Opens /dev/null as standard input, output and error where the program was started without them. Else the next socket
    /// or file has that number, and what is meant for standard error is written into it.
    public static func openMissingStreams() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // open(2) takes the lowest free number. A result that nobody gets is an error, as before: standard output is
            // not opened for writing.
            _ = open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Takes the next connection of a listening socket, close-on-exec and non-blocking.
    /// - Returns: its descriptor and its peer's name; nil when there is none or after an error, which is in `errno`.
    public static func accept(_ socket: Int32) -> (descriptor: Int32, name: sockaddr_storage, length: socklen_t)? {
        var (name, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = cs_accept(socket, &name, &length, flags)
        return descriptor < 0 ? nil : (descriptor, name, length)
    }
}
