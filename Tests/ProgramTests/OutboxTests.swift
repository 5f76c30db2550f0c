// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import vedette

@Suite("The screen of outbox")
struct OutboxTests {
    private let now = Timestamp(rfc3339: "2026-11-22T08:23:00Z") ?? Timestamp(milliseconds: 0)

    private func status(_ id: Int64, _ state: DeliveryState, _ title: String, _ reason: String?) -> DeliveryStatus {
        let event = Event(
            id: Identifier("0199-\(id)"), kind: .appeared, time: now, source: "lab", sourceKind: "json", poll: "p")
        var delivery = Delivery(
            id: id,
            message: Message(id: "msg_\(id)", rule: "ready", sink: "team-chat", event: event, title: title, text: ""),
            created: now.advanced(by: .seconds(-3600)), attempts: 3, due: now.advanced(by: .seconds(240)))
        delivery.reason = reason
        return DeliveryStatus(delivery: delivery, state: state, endedAt: nil)
    }

    private func text(_ lines: [StyledText]) -> String { lines.map(\.text).joined(separator: "\n") }

    private func screen(_ width: Int?, isOn: Bool = false) -> [StyledText] {
        OutboxScreen(palette: Palette(isOn: isOn), width: width, now: now) {
            $0.replacing("2026-11-22T07:40:00.000Z", with: "07:40:00")
        }.lines([
            status(7, .dead, "prod-1: Starting → Ready for use", "400 Bad Request: no such channel"),
            status(8, .retry, "한국어 제목", "503 Service Unavailable"),
            status(9, .dead, "x", "silenced since 2026-11-22T07:40:00.000Z"),
        ])
    }

    @Test("a pipe gets one line per message, with why it died and when the next try is")
    func pipe() {
        #expect(
            text(screen(nil)) == """
                ID  STATE  SINK       RULE   AGE  TRIES  REASON                                      MESSAGE
                7   dead   team-chat  ready  1 h  3      400 Bad Request: no such channel            prod-1: Starting → Ready for use
                8   retry  team-chat  ready  1 h  3      503 Service Unavailable; next try in 4 min  한국어 제목
                9   dead   team-chat  ready  1 h  3      silenced since 07:40:00                     x
                """)
    }

    @Test("in a terminal the reason has a line of its own, in local time, and is broken between words")
    func terminal() {
        let whole = """
            ID  STATE  SINK       RULE   AGE  TRIES  MESSAGE
            7   dead   team-chat  ready  1 h  3      prod-1: Starting → Ready for use
                400 Bad Request: no such channel
            8   retry  team-chat  ready  1 h  3      한국어 제목
                503 Service Unavailable; next try in 4 min
            9   dead   team-chat  ready  1 h  3      x
                silenced since 07:40:00
            """
        for width in [80, 120] {
            #expect(text(screen(width)) == whole)
            #expect(
                screen(width, isOn: true).map { $0.text.replacing(/\u{1B}\[[0-9]*m/, with: "") }.joined(separator: "\n")
                    == whole)
        }
        let narrow = screen(44)
        #expect(narrow.allSatisfy { $0.width <= 44 })
        #expect(text(narrow).contains("\n    503 Service Unavailable; next try in 4\n      min\n"))
    }
}
