// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("What states mean")
struct StateMeaningTests {
    @Test(
        "the words of common states tell whether they are good, on their way or bad",
        arguments: [
            ("Ready for use", .good), ("up", .good), ("completed/success", .good), ("Started", .good), ("OK", .good),
            ("in_progress", .busy), ("Starting", .busy), ("degraded_performance", .busy), ("queued", .busy),
            ("FAILED", .bad), ("completed/failure", .bad), ("down", .bad), ("major_outage", .bad), ("timed_out", .bad),
            ("Stopped", nil), ("not ready", nil), ("Error: not ready", .bad), ("", nil), ("RM01901", nil),
            ("running", .good), ("cancelled", .busy),
        ] as [(String, StateMeaning?)])
    func words(_ state: String, _ meaning: StateMeaning?) { #expect(StateMeaning(of: state) == meaning) }

    @Test("what waits for a person is bad, and what ends by itself is on its way")
    func others() {
        #expect([.failing, .suspect].allSatisfy { (health: SourceStatus.Health) in health.meaning == .bad })
        #expect(SourceStatus.Health.retrying.meaning == .busy && SourceStatus.Health.new.meaning == nil)
        #expect([.paused, .dead].allSatisfy { (state: DeliveryState) in state.meaning == .bad })
        #expect(DeliveryState.retry.meaning == .busy && DeliveryState.pending.meaning == nil)
        #expect(Event.Kind.failing.meaning == .bad && Event.Kind.recovered.meaning == .good)
        #expect(Event.Kind.changed.meaning == nil, "its item's state decides")
    }
}
