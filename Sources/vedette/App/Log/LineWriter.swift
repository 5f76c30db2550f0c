// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization
import VedetteCore
import VedetteSystem

/// Writes lines to a descriptor from a thread of its own. Where nobody reads them, at most `limit` bytes wait; further
/// lines are dropped and counted, so that a full pipe never holds up a poll (I7).
final class LineWriter: Sendable {
    static let standardError = LineWriter(descriptor: STDERR_FILENO)

    private struct State {
        var waiting = 0
        var dropped = 0
        var report: (@Sendable (Int) -> String)?
    }

    private let descriptor: Int32
    private let limit: Int
    private let queue = DispatchQueue(label: "vedette.lines")
    private let state = Mutex(State())

    /// - Parameters:
    ///   - descriptor: stays open; its owner closes it.
    ///   - limit: bytes that may wait.
    init(descriptor: Int32, limit: Int = 1 << 20) { (self.descriptor, self.limit) = (descriptor, limit) }

    /// The columns of the terminal that shows the lines; nil where it is no terminal.
    var columns: Int? { TerminalSize.of(descriptor)?.columns }

    /// Sets the line that is written, with their count, after lines were dropped and the reader reads again.
    func reportDropped(_ report: @escaping @Sendable (Int) -> String) { state.withLock { $0.report = report } }

    /// - Parameter line: with its line break.
    func write(_ line: String) {
        let bytes = Array(line.utf8)
        let isAccepted = state.withLock { state in
            guard state.waiting + bytes.count <= limit else {
                state.dropped += 1
                return false
            }
            state.waiting += bytes.count
            return true
        }
        guard isAccepted else { return }
        queue.async { [self] in
            FileDescriptor.writeAll(bytes, to: descriptor)
            let report = state.withLock { state -> String? in
                state.waiting -= bytes.count
                // Once for many lines: not before there is room for new ones.
                guard state.dropped > 0, state.waiting <= limit / 2 else { return nil }
                defer { state.dropped = 0 }
                return state.report?(state.dropped)
            }
            if let report { FileDescriptor.writeAll(Array(report.utf8), to: descriptor) }
        }
    }

    /// Waits until everything is written, but not longer than the limit.
    func flush(within limit: Duration) {
        let isDone = DispatchSemaphore(value: 0)
        queue.async { isDone.signal() }
        _ = isDone.wait(atMost: limit)
    }
}
