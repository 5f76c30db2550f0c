// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedettePage
import VedetteSinks

extension App {
    /// Reads what metrics show besides the numbers that the engine counts. What cannot be read is left out.
    /// - Parameter access: the journal as commands use it.
    func numbers(_ configuration: ConfigurationFacts, _ access: any JournalAccess) async -> WatcherNumbers {
        let now = clock.now().wall
        var numbers = WatcherNumbers(version: ProgramVersion.number)
        numbers.start = start
        (numbers.processorTime, numbers.residentMemory) = (ProcessUsage.processorTime, ProcessUsage.residentMemory)
        do throws(JournalError) {
            numbers.journalBytes = try await journal.size()
            try await numbers.read(
                access, configuration, now: now, today: LocalTime.startOfDay(of: now),
                age: .milliseconds(now.milliseconds - start.milliseconds))
        } catch {
            log.log(error.logLevel, "failed to read the journal for metrics: \(error.detail)")
        }
        return numbers
    }
}
