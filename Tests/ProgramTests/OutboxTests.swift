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

    private func screen(_ width: Int?, isOn: Bool = false) -> [StyledText] {
        OutboxScreen(palette: Palette(isOn: isOn), width: width, now: now) {
            $0.replacing("2026-11-22T07:40:00.000Z", with: "07:40:00")
        }.lines([
            status(7, .dead, "prod-1: Starting → Ready for use", "400 Bad Request: no such channel"),
            status(8, .retry, "한국어 제목", "503 Service Unavailable"),
            status(9, .dead, "x", "silenced since 2026-11-22T07:40:00.000Z"),
        ])
    }

    @Test("the table tells why each died and when the next try is, with local times, and fits the terminal")
    func table() {
        #expect(
            screen(nil).map(\.text).joined(separator: "\n") == """
                ID  STATE  SINK       RULE   AGE  TRIES  REASON                                      MESSAGE
                7   dead   team-chat  ready  1 h  3      400 Bad Request: no such channel            prod-1: Starting → Ready for use
                8   retry  team-chat  ready  1 h  3      503 Service Unavailable; next try in 4 min  한국어 제목
                9   dead   team-chat  ready  1 h  3      silenced since 07:40:00                     x
                """)
        for width in [80, 120] { #expect(screen(width).allSatisfy { $0.width <= width }) }
        #expect(screen(80)[1].text.contains("400 Bad"))
        #expect(screen(80, isOn: true).map { $0.text.replacing(/\u{1B}\[[0-9]*m/, with: "") } == screen(80).map(\.text))
    }
}
