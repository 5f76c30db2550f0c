// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// The limits of stopping. They count from the first request to stop, also while something else delays the stop itself.
final class StopDeadline: Sendable {
    /// How long stopping may take: I10 promises ten seconds.
    static let longest = Duration.seconds(9)
    /// How long deliveries that are under way may go on.
    private static let ofDeliveries = Duration.seconds(5)

    private struct State {
        var start: BootTime?
        var ending: Task<Void, Never>?
    }

    private let clock: any Clock
    private let end: @Sendable (_ code: Int32) -> Void
    private let state = Mutex(State())

    /// - Parameter end: ends the process with a code, once stopping has taken too long.
    init(_ clock: any Clock, end: @escaping @Sendable (_ code: Int32) -> Void) { (self.clock, self.end) = (clock, end) }

    /// Begins to count, unless that has begun.
    /// - Parameter code: of the process, where it stops too late.
    /// - Returns: when deliveries that are under way are cancelled.
    @discardableResult
    func begin(_ code: Int32) -> BootTime {
        let start = state.withLock { state in
            if let start = state.start { return start }
            let start = clock.now().boot
            state.start = start
            state.ending = Task { [clock, end] in
                guard (try? await clock.sleep(until: start.advanced(by: Self.longest))) != nil else { return }
                end(code)
            }
            return start
        }
        return start.advanced(by: Self.ofDeliveries)
    }

    /// Everything has stopped.
    func cancel() { state.withLock { $0.ending }?.cancel() }
}
