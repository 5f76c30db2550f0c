// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteHTTP

/// The machine's clocks, with sleeps on the network thread for what runs there: a poll that is due wakes one thread, which then
/// sends its request.
struct LoopClock: VedetteCore.Clock {
    let client: HTTPClient
    private let system = SystemClock()

    init(_ client: HTTPClient) { self.client = client }

    func now() -> Moment { system.now() }
    var suspended: Duration { system.suspended }
    var processorTime: Duration { system.processorTime }

    func sleep(until deadline: BootTime) async throws(CancellationError) {
        if try await !client.sleep(until: deadline) { try await system.sleep(until: deadline) }
    }
}
