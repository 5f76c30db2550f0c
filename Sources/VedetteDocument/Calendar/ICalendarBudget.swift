// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The computing time that the recurrences of one calendar may take: libical has no limit of its own.
struct ICalendarBudget {
    private static let maximumSeconds = 3
    private let end: Int

    init() { end = ICalendarBudget.now + ICalendarBudget.maximumSeconds * 1_000_000_000 }

    /// Nanoseconds that this thread has computed, so that a busy machine does not count.
    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    func check() throws(DocumentError) {
        guard ICalendarBudget.now < end else {
            throw DocumentError(
                .tooLarge, "its recurrences take more than \(ICalendarBudget.maximumSeconds) seconds of computing")
        }
    }
}
