// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("The log of deliveries")
struct DeliveryLogTests {
    private func attempt(_ seconds: Int, _ state: DeliveryState, _ reason: String? = nil, number: Int = 1) -> Attempt {
        let time = Timestamp(milliseconds: Int64(seconds) * 1000)
        return Attempt(delivery: 1, state: state, attempts: number, due: time, at: time, reason: reason)
    }

    private func message(_ sink: String) -> Message {
        let event = Event(
            id: Identifier("0199"), kind: .appeared, time: Timestamp(milliseconds: 0), source: "lab",
            sourceKind: "json", poll: "p")
        return Message(id: "msg_1", rule: "ready", sink: sink, event: event, title: "Portal QA", text: "")
    }

    @Test("a sink that fails is logged once, and once that it takes messages again")
    func once() {
        var log = DeliveryLog()
        let team = message("team")
        #expect(log.line(of: attempt(0, .sent), team) == .init(level: .debug, text: "team: sent: Portal QA"))
        let first = log.line(of: attempt(10, .retry, "HTTP 503"), team)
        #expect(first == .init(level: .warning, text: "team: failed, and will be retried: HTTP 503"))
        #expect(log.line(of: attempt(20, .retry, "HTTP 502"), team).level == .debug)
        #expect(log.line(of: attempt(20, .retry, "HTTP 503"), message("other")).level == .warning)
        #expect(
            log.line(of: attempt(130, .sent), team)
                == .init(level: .notice, text: "team: takes messages again after 2 min"))
        #expect(log.line(of: attempt(140, .sent), team).level == .debug)
        #expect(log.line(of: attempt(150, .retry, "HTTP 503"), team).level == .warning)
    }

    @Test("a message that a sink refuses while it takes others is no failure of the sink")
    func oneRefused() {
        var log = DeliveryLog()
        let team = message("team")
        let levels = [
            attempt(0, .retry, "HTTP 503"), attempt(1, .sent), attempt(2, .retry, "HTTP 503", number: 2),
            attempt(3, .sent), attempt(4, .retry, "HTTP 503", number: 3), attempt(5, .sent),
        ].map { log.line(of: $0, team).level }
        #expect(levels == [.warning, .notice, .info, .debug, .info, .debug])
    }

    @Test("a sink that fails from the start is logged, though its messages are retries")
    func fromStart() {
        var log = DeliveryLog()
        let levels = [7, 8].map { log.line(of: attempt($0, .retry, "HTTP 503", number: $0), message("team")).level }
        #expect(levels == [.warning, .debug])
    }

    @Test("what a fallback tells in place of a sink that fails is logged once for the sink, not for each message")
    func passedOn() {
        var log = DeliveryLog()
        let end = attempt(0, .suppressed, "told by 'mail': HTTP 503")
        #expect(log.line(of: end, message("team"), isDiverted: true).level == .debug)
        #expect(log.line(of: end, message("team")).level == .warning)
    }

    @Test("a message that dies, and a sink that is paused, are logged each time")
    func ends() {
        var log = DeliveryLog()
        for state in [DeliveryState.dead, .paused, .dead] {
            #expect(
                log.line(of: attempt(0, state, "HTTP 404"), message("team"))
                    == .init(level: .warning, text: "team: \(state.rawValue): HTTP 404"))
        }
    }
}
