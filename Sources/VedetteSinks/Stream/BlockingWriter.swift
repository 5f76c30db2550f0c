// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Writes to a descriptor on a thread of its own, in the order of the calls. A reader that does not read blocks that
/// thread alone: who waits for a write can be cancelled, and the pool of Swift's tasks is never blocked.
final class BlockingWriter: Sendable {
    enum Result: Sendable, Hashable {
        case written
        /// The reader is gone for good (EPIPE).
        case closed
        /// Another error, with the system's words.
        case failed(String)
        /// The waiting task was cancelled; the bytes may still be written.
        case cancelled
    }

    /// The standard output of this process. There is one, so that the lines of two sinks do not tear each other.
    static let standardOutput = BlockingWriter(STDOUT_FILENO)

    private struct Job {
        var bytes: [UInt8]
        var reply: AsyncStream<Result>.Continuation
    }

    private struct State {
        var jobs: [Job] = []
        var hasThread = false
        var isEnding = false
    }

    private let descriptor: CInt
    private let state = Mutex(State())
    /// Counts jobs, and one more for the end. Semaphore calls may come from any thread (sem_overview(7)).
    private nonisolated(unsafe) let work: UnsafeMutablePointer<sem_t>

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        work = .allocate(capacity: 1)
        sem_init(work, 0, 0)
    }

    deinit {
        sem_destroy(work)
        work.deallocate()
    }

    func write(_ bytes: [UInt8]) async -> Result {
        let (replies, reply) = AsyncStream<Result>.makeStream()
        let isFirst = state.withLock { state in
            state.jobs.append(Job(bytes: bytes, reply: reply))
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if isFirst { start() }
        sem_post(work)
        var iterator = replies.makeAsyncIterator()
        return await iterator.next() ?? .cancelled
    }

    /// Ends the thread after what was asked for is written. The descriptor stays open.
    func end() {
        state.withLock { $0.isEnding = true }
        sem_post(work)
    }

    private func start() {
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<BlockingWriter>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(result == 0, "no thread for standard output: \(String(cString: strerror(result)))")
        pthread_detach(thread)
    }

    private func run() {
        // A signal is for the threads that know what to do; and SIGPIPE must be an error here, whatever the program does.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        var isTorn = false
        while true {
            while sem_wait(work) != 0 {}
            let (job, isOver) = state.withLock { state in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isEnding)
            }
            guard let job else {
                if isOver { return }
                continue
            }
            job.reply.yield(put(job.bytes, &isTorn))
            job.reply.finish()
        }
    }

    /// - Parameter isTorn: an error left a line unfinished; the next write begins with a line break, so that only that
    ///   line is lost to the reader.
    private func put(_ bytes: [UInt8], _ isTorn: inout Bool) -> Result {
        var rest = (isTorn ? [10] + bytes : bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            switch (count, code) {
            case (0..., _):
                rest = rest.dropFirst(count)
                isTorn = !rest.isEmpty
            case (_, EINTR): continue
            case (_, EAGAIN):
                // Whoever shares the terminal or pipe may have made it non-blocking.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            case (_, EPIPE): return .closed
            default: return .failed(String(cString: strerror(code)))
            }
        }
        return .written
    }
}
