// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// SIGTERM, SIGINT and SIGHUP as a stream.
struct Signals {
    private final class Work: Sendable {
        let isUnderWay = Atomic<Bool>(false)
    }

    let stream: AsyncStream<Int32>
    private let continuation: AsyncStream<Int32>.Continuation
    private let sources: [any DispatchSourceSignal]
    private let work = Work()

    /// Catches the signals, which from then on no longer end the program by themselves.
    /// - Parameter end: is called by SIGTERM and SIGINT before `beginWork`; from then on they are in the stream.
    init(end: @escaping @Sendable () -> Void) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        (self.stream, self.continuation) = (stream, continuation)
        sources = [SIGTERM, SIGINT, SIGHUP].map { [work] number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                if number != SIGHUP, !work.isUnderWay.load(ordering: .acquiring) { end() }
                continuation.yield(number)
            }
            source.activate()
            return source
        }
    }

    /// Something is under way from now on that an end must not interrupt.
    func beginWork() { work.isUnderWay.store(true, ordering: .releasing) }

    /// Adds SIGHUP to the stream, as if it had been received.
    func reload() { continuation.yield(SIGHUP) }

    /// Makes a closed pipe an error of the write, not the end of the program.
    static func ignorePipe() { signal(SIGPIPE, SIG_IGN) }

    /// Undoes an inherited SIG_IGN, with which the exit status of every child would be lost (wait(2)).
    static func collectChildren() { signal(SIGCHLD, SIG_DFL) }
}
