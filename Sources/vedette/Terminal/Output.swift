// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Results on stdout, diagnostics on stderr.
enum Output {
    /// A closed pipe: the reader has seen enough, which is a success.
    struct Closed: Error {}

    static func print(_ line: String) throws {
        try check(write(line + "\n", to: STDOUT_FILENO))
    }

    static func print(_ bytes: [UInt8]) throws {
        try check(write(bytes + [10], to: STDOUT_FILENO))
    }

    static func diagnose(_ line: String) {
        write(line + "\n", to: STDERR_FILENO)
    }

    /// Ends the program, as a success, when whoever reads its results has gone, also while there is nothing to print.
    static func endWhenUnread() {
        var thread = pthread_t()
        let started = pthread_create(
            &thread, nil,
            { _ in
                // No event is asked for: an error or a hang-up of the other end is told anyway.
                var results = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
                while poll(&results, 1, -1) < 0 {
                    guard errno == EINTR else { return nil }
                }
                Glibc.exit(0)
            }, nil)
        if started == 0 { pthread_detach(thread) }
    }

    private static func check(_ ok: Bool) throws {
        guard !ok else { return }
        if errno == EPIPE { throw Closed() }
        throw Exit(.inputOutput, "writing to standard output failed: \(String(cString: strerror(errno)))")
    }

    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Bool { write(Array(text.utf8), to: descriptor) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
