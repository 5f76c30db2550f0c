// SPDX-License-Identifier: Apache-2.0

import CSystem
import Glibc

/// Brings signals from their handler, which may do next to nothing (signal-safety(7)), to a thread that waits for them.
///
/// A dispatch source would need a thread of Swift's pool for it, and each of those may be busy.
public struct SignalPipe: Sendable {
    /// A signal that was received.
    public struct Received: Sendable, Hashable {
        /// Its number.
        public let signal: Int32
        /// Whether the kernel sent it, as it does where a terminal ends, and no other process.
        public let isFromKernel: Bool
    }

    /// SI_KERNEL of sigaction(2).
    private static var sentByKernel: Int32 { 0x80 }
    private static var kernelMark: UInt8 { 0x80 }
    /// Set before the handler is installed, and never changed then.
    nonisolated(unsafe) private static var writable: Int32 = -1

    private let readable: Int32

    /// Catches the signals, which from then on no longer end the program by themselves.
    /// - Returns: nil when the system has no descriptors, with errno.
    public init?(_ signals: [Int32]) {
        var ends: [Int32] = [-1, -1]
        guard cs_pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
        // A handler must not wait; the pipe holds more signals than matter.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        (readable, SignalPipe.writable) = (ends[0], ends[1])
        for signal in signals {
            var action = sigaction()
            action.__sigaction_handler.sa_sigaction = { signal, info, _ in
                let code = errno
                let isFromKernel = info?.pointee.si_code == SignalPipe.sentByKernel
                var byte = UInt8(truncatingIfNeeded: signal) | (isFromKernel ? SignalPipe.kernelMark : 0)
                _ = write(SignalPipe.writable, &byte, 1)
                errno = code
            }
            action.sa_flags = SA_SIGINFO | SA_RESTART
            sigaction(signal, &action, nil)
        }
    }

    /// Waits for the next signal. Blocks the thread.
    public func next() -> Received {
        var byte: UInt8 = 0
        // The other end is never closed, so that there is a byte or an interruption.
        while read(readable, &byte, 1) != 1 {}
        return Received(signal: Int32(byte & ~Self.kernelMark), isFromKernel: byte & Self.kernelMark != 0)
    }

    /// Whether the process was started so that a signal does nothing, as nohup(1) does with SIGHUP.
    public static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0, action.sa_flags & SA_SIGINFO == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
