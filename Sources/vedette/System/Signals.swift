// SPDX-License-Identifier: Apache-2.0

import Glibc

/// SIGTERM, SIGINT and SIGHUP as a stream. They are blocked in every thread and taken by one that waits for them, so no
/// code ever runs inside a signal handler.
enum Signals {
    private static let wanted = [SIGTERM, SIGINT, SIGHUP]

    /// Call before any other thread exists: threads inherit the mask. SIGPIPE is ignored: a closed pipe is an error to
    /// handle where it is written to.
    static func block() {
        var set = mask()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    static func stream() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        let box = Box(continuation: continuation)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(box).toOpaque()
        pthread_create(&thread, nil, { context in
            guard let context else { return nil }
            let box = Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
            var set = Signals.mask()
            while true {
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                if case .terminated = box.continuation.yield(number) { return nil }
            }
        }, context)
        pthread_detach(thread)
        return stream
    }

    private static func mask() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in wanted { sigaddset(&set, number) }
        return set
    }

    private final class Box: Sendable {
        let continuation: AsyncStream<Int32>.Continuation

        init(continuation: AsyncStream<Int32>.Continuation) { self.continuation = continuation }
    }
}
