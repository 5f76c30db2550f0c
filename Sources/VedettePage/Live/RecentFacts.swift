// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The facts of the last second. Reading them goes through every source, so that browsers which look at the same time,
/// as they do after a change, share one reading.
actor RecentFacts {
    private static let age = Duration.seconds(1)
    /// They are forgotten then: of 10,000 sources they are several megabytes.
    private static let longestAge = Duration.seconds(30)

    private let sources: StatusPage.Sources
    private var last: (reading: Task<Result<StatusFacts, JournalError>, Never>, at: BootTime)?

    init(_ sources: StatusPage.Sources) { self.sources = sources }

    func facts(of configuration: ConfigurationFacts) async throws(JournalError) -> StatusFacts {
        let now = sources.clock.now().boot
        if let last, now < last.at.advanced(by: Self.age) { return try await last.reading.value.get() }
        let reading = Task { [sources] () -> Result<StatusFacts, JournalError> in
            do throws(JournalError) {
                return .success(try await sources.status(configuration))
            } catch {
                return .failure(error)
            }
        }
        last = (reading, now)
        forgetLater(now)
        return try await reading.value.get()
    }

    /// The next reading is a new one: something was changed.
    func forget() { last = nil }

    /// Forgets the facts that were read at a time, once nobody asks for them any more.
    private func forgetLater(_ time: BootTime) {
        Task { [weak self, clock = sources.clock] in
            try? await clock.sleep(until: time.advanced(by: RecentFacts.longestAge))
            await self?.forget(readAt: time)
        }
    }

    private func forget(readAt time: BootTime) {
        if last?.at == time { last = nil }
    }
}
