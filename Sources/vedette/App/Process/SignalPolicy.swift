// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Decides what the program does about a signal.
struct SignalPolicy {
    enum Action: Equatable {
        case reload
        /// The first request to stop: stop in order.
        /// - Parameter code: of the process, where that takes too long.
        case stop(code: Int32)
        /// End the process at once.
        case end(code: Int32)
    }

    /// Something is under way that an end must not interrupt.
    var isWorking = false
    private var isStopping = false

    /// - Parameter isHangup: whether the terminal of the process is gone; without that, SIGHUP asks for a reload.
    /// - Returns: nil for a signal that changes nothing.
    mutating func action(for signal: Int32, isHangup: Bool) -> Action? {
        if signal == SIGHUP, !isHangup { return .reload }
        guard isWorking else { return .end(code: 0) }
        guard !isStopping else {
            // The kernel and the shell each report the end of a terminal.
            return signal == SIGHUP ? nil : .end(code: Exit.ended(by: signal))
        }
        isStopping = true
        return .stop(code: Exit.ended(by: signal))
    }
}
