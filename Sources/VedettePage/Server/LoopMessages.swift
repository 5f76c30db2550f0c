// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// What other threads ask of the server's thread. A message wakes it.
final class LoopMessages: Sendable {
    enum Message: Sendable {
        /// The response to a request that was handed out.
        case response(PageResponse, to: Int)
        /// The response to a health check, which is not one of the requests that are handled at once.
        case health(PageResponse, to: Int)
        /// The next part of the stream of a request; nil at its end.
        case part([UInt8]?, of: Int)
        /// End the server, then call this.
        case stop(@Sendable () -> Void)
    }

    private struct State {
        var messages: [Message] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Polled by the server's thread.
    let readable: Int32
    private let writable: Int32

    /// - Returns: nil when the system has no descriptors, with errno.
    init?() {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        (readable, writable) = (ends[0], ends[1])
    }

    deinit {
        Glibc.close(readable)
        Glibc.close(writable)
    }

    /// - Returns: false when the server has ended.
    @discardableResult
    func post(_ message: Message) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.messages.append(message)
            // One byte wakes the thread for any number of messages.
            if state.messages.count == 1 { _ = send(writable, "!", 1, Int32(MSG_NOSIGNAL)) }
            return true
        }
    }

    func take() -> [Message] {
        state.withLock { state in
            guard !state.messages.isEmpty else { return [] }
            var byte: UInt8 = 0
            _ = read(readable, &byte, 1)
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Refuses further messages, and returns those that came last.
    func close() -> [Message] {
        let last = take()
        return state.withLock { state in
            state.isClosed = true
            return last + state.messages
        }
    }
}
