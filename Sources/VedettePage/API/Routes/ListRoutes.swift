// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Sources, items, rules, deliveries and silences, as the commands print them with `--json`.
struct ListRoutes: Sendable {
    let api: APIRoutes

    var operations: [APIOperation] {
        [
            APIOperation(
                pattern: "/api/v1/sources", name: "sources",
                summary: "The sources with their health, as `status --json`",
                responses: [APIRoutes.lines("Source", "The sources in the order of the configuration")]
            ) { _ throws(APIError) in APIRoutes.respond(try await api.facts().sourceRows) },
            APIOperation(
                pattern: "/api/v1/items", name: "items", summary: "The items of a source, as `list SOURCE --json`",
                parameters: [
                    APIParameter("source", "The source.").required,
                    APIParameter("state", "Only items in this state."),
                    APIParameter("after", "Only items whose key is greater, in the order of bytes."), APIRoutes.limit,
                ],
                responses: [
                    APIRoutes.lines("Item", "The items in the order of their keys"),
                    .problem(404, "There is no such source"),
                ]
            ) { request throws(APIError) in try await items(request) },
            APIOperation(
                pattern: "/api/v1/rules", name: "rules", summary: "The rules, and what they wait for",
                responses: [APIRoutes.lines("Rule", "The rules in the order of evaluation")]
            ) { _ throws(APIError) in APIRoutes.respond(try await api.facts().ruleRows) },
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
                responses: [APIRoutes.lines("Delivery", "The deliveries in the order of their release")]
            ) { request throws(APIError) in try await deliveries(request) },
            APIOperation(
                pattern: "/api/v1/silences", name: "silences", summary: "The silences in force, as `silences --json`",
                responses: [APIRoutes.lines("Silence", "The silences")]
            ) { _ throws(APIError) in
                let now = api.clock.now().wall
                let all = try await APIRoutes.read { () async throws(JournalError) in
                    try await api.journal.reader().silences()
                }
                return APIRoutes.respond(all.filter { !$0.isOver(at: now) }.map(\.json))
            },
        ]
    }

    private func items(_ request: APIOperation.Request) async throws(APIError) -> PageResponse {
        let source = try await api.configured(request["source"] ?? "")
        let stored = try await APIRoutes.read { () async throws(JournalError) in
            try await api.journal.reader().items(of: source.name)
        }
        let after = request["after"]
        let keys = stored.values.filter { row in
            row.absentSince == nil && after.map { $0.utf8.lexicographicallyPrecedes(row.key.utf8) } != false
        }.map(\.key).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let limit = Int(request.number("limit", default: 100))
        var (items, hasMore) = ([Item](), false)
        // A row is decoded when it is on the page, or when its state decides.
        for key in keys {
            guard let item = stored[key]?.item, request["state"].map({ $0 == item.state }) != false else { continue }
            hasMore = items.count == limit
            if hasMore { break }
            items.append(item)
        }
        let next = hasMore ? items.last.map { APIRoutes.address(request, "/api/v1/items", ["after": $0.key]) } : nil
        return APIRoutes.respond(items.map(\.json), next: next)
    }

    private func deliveries(_ request: APIOperation.Request) async throws(APIError) -> PageResponse {
        let state = request["state"].flatMap(DeliveryState.init(rawValue:))
        let filter = DeliveryFilter(
            state.map { .only($0) } ?? .unsent, sink: request["sink"], rule: request["rule"],
            event: request["event"].flatMap { Int64($0) })
        let limit = Int(request.number("limit", default: 100))
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

extension APIOperation.Response {
    /// An error, by RFC 9457.
    static func problem(_ status: Int, _ description: String) -> APIOperation.Response {
        APIOperation.Response(
            status: status, contentType: APIOperation.problemType, description: description, schema: "Problem")
    }
}
