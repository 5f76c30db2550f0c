// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization
import VedetteCore
import VedetteSystem

/// The limits of stopping. They count from the first request to stop, also while something else delays the stop itself, and
/// on a thread of their own: that every thread of Swift's pool is busy may be what delays it.
final class StopDeadline: Sendable {
    /// How long stopping may take: I10 promises ten seconds.
    static let longest = Duration.seconds(9)
    /// How long deliveries that are under way may go on.
    private static let ofDeliveries = Duration.seconds(5)

    private let clock: any Clock
    private let start = Mutex<(at: BootTime, code: Int32)?>(nil)
    private let isBegun = DispatchSemaphore(value: 0)
    private let isOver = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - wait: waits so long for the semaphore; false when the time is over first.
    ///   - end: ends the process with a code, once stopping has taken too long.
    /// - Throws: `Exit` when the system has no thread for it.
    init(
        _ clock: any Clock,
        wait: @escaping @Sendable (DispatchSemaphore, Duration) -> Bool = { $0.wait(atMost: $1) },
        end: @escaping @Sendable (_ code: Int32) -> Void
    ) throws {
        self.clock = clock
        // Now already: when it is needed, the system may have no thread left.
        let code = SystemThread.start { [self] in
            isBegun.wait()
            guard let code = start.withLock({ $0?.code }) else { return }
            if !wait(isOver, Self.longest) { end(code) }
        }
        guard code == 0 else {
            throw Exit(.temporary, "failed to start a thread for the end: \(String(cString: strerror(code)))")
        }
    }

    /// Begins to count, unless that has begun.
    /// - Parameter code: of the process, where it stops too late.
    /// - Returns: when deliveries that are under way are cancelled.
    @discardableResult
    func begin(_ code: Int32) -> BootTime {
        let now = clock.now().boot
        let (begun, isFirst) = start.withLock { (start: inout (at: BootTime, code: Int32)?) -> (BootTime, Bool) in
            if let start { return (start.at, false) }
            start = (now, code)
            return (now, true)
        }
        if isFirst { isBegun.signal() }
        return begun.advanced(by: Self.ofDeliveries)
    }

    /// Everything has stopped.
    func cancel() { isOver.signal() }
}
