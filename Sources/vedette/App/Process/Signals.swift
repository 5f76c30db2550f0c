// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import VedetteSystem

/// SIGTERM, SIGINT and SIGHUP as requests, received on a thread of its own: a stop is counted, and a second SIGTERM ends the
/// program, also while every thread of Swift's pool is busy (I10).
final class Signals: Sendable {
    enum Request: Sendable {
        case reload, stop
    }

    let requests: AsyncStream<Request>
    private let continuation: AsyncStream<Request>.Continuation
    private let policy = Mutex(SignalPolicy())

    /// Catches the signals, which from then on no longer end the program by themselves.
    /// - Parameters:
    ///   - deadline: counts from the first request to stop.
    ///   - end: ends the process with a code, from the thread of the signals.
    /// - Throws: `Exit` when the system has no thread or descriptor for it.
    init(_ deadline: StopDeadline, end: @escaping @Sendable (_ code: Int32) -> Void) throws {
        (requests, continuation) = AsyncStream.makeStream(of: Request.self)
        // Who starts the program by nohup(1) wants it to survive its terminal.
        let terminal = SignalPipe.isIgnored(SIGHUP) ? nil : ControllingTerminal()
        guard let pipe = SignalPipe([SIGTERM, SIGINT, SIGHUP]) else {
            throw Exit(.temporary, "failed to make a pipe for signals: \(String(cString: strerror(errno)))")
        }
        let code = SystemThread.start { [self] in
            while true {
                let received = pipe.next()
                let isHangup =
                    received.signal == SIGHUP && (terminal.map { received.isFromKernel || $0.isGone } ?? false)
                switch policy.withLock({ $0.action(for: received.signal, isHangup: isHangup) }) {
                case .reload: continuation.yield(.reload)
                case .stop(let code):
                    deadline.begin(code)
                    continuation.yield(.stop)
                case .end(let code): end(code)
                case nil: continue
                }
            }
        }
        guard code == 0 else {
            throw Exit(.temporary, "failed to start a thread for signals: \(String(cString: strerror(code)))")
        }
    }

    /// Something is under way from now on that an end must not interrupt. Until then SIGTERM and SIGINT end the process.
    func beginWork() { policy.withLock { $0.isWorking = true } }

    /// Adds a reload to the requests, as if SIGHUP had been received.
    func reload() { continuation.yield(.reload) }

    /// Makes a closed pipe an error of the write, not the end of the program.
    static func ignorePipe() { signal(SIGPIPE, SIG_IGN) }

    /// Undoes an inherited SIG_IGN, with which the exit status of every child would be lost (wait(2)).
    static func collectChildren() { signal(SIGCHLD, SIG_DFL) }
}
