// SPDX-License-Identifier: Apache-2.0

import Glibc

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
}
