// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Messages and their outcomes, as `outbox --json` prints them.
struct DeliveryRoutes: Sendable {
    let api: APIRoutes

    var operations: [APIOperation] {
        [
            APIOperation(
                pattern: "/api/v1/deliveries", name: "deliveries",
                summary: "Messages and their outcomes, as `outbox --json`; those not sent unless a state is given",
                parameters: [
                    APIParameter(
                        "state", .choice(DeliveryState.allCases.map(\.rawValue)), "Only deliveries in this state."),
                    APIParameter("sink", "Only to this sink."), APIRoutes.rule,
                    APIParameter("event", .number(1...Int64.max), "Only about the event with this `data.seq`."),
                    APIParameter("after", .number(0...Int64.max), "Only deliveries with a greater id."),
                    APIRoutes.limit,
                ],
                responses: [
                    APIRoutes.lines("Delivery", "The deliveries in the order of their release"),
                    .problem(404, "There is no such sink or rule"),
                ]
            ) { request throws(APIError) in try await deliveries(request) }
        ]
    }

    private func deliveries(_ request: APIOperation.Request) async throws(APIError) -> PageResponse {
        let configuration = await api.configuration()
        let wanted = [
            ("sink", request["sink"], configuration.sinks.map(\.name), DeliveryFilter(sink: request["sink"])),
            ("rule", request["rule"], configuration.rules.map(\.name), DeliveryFilter(rule: request["rule"])),
        ]
        for (noun, name, known, filter) in wanted {
            try await api.check(noun, name, among: known) { reader async throws(JournalError) in
                try await !reader.deliveries(filter, after: 0, limit: 1).isEmpty
            }
        }
        let state = request["state"].flatMap(DeliveryState.init(rawValue:))
        let filter = DeliveryFilter(
            state.map { .only($0) } ?? .unsent, sink: request["sink"], rule: request["rule"],
            event: request["event"].flatMap { Int64($0) })
        let limit = Int(request.number("limit", default: APIRoutes.usualPage))
        let found = try await APIRoutes.read { () async throws(JournalError) in
            try await api.journal.reader().deliveries(
                filter, after: request.number("after", default: 0), limit: limit + 1)
        }
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { "\($0.delivery.id)" } : nil
        return APIRoutes.respond(
            page.map(\.json), next: next.map { APIRoutes.address(request, "/api/v1/deliveries", ["after": $0]) })
    }
}
