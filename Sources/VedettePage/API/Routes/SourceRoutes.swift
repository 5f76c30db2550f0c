// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Sources and their items, as `status --json` and `list --json` print them.
struct SourceRoutes: Sendable {
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
        ]
    }

    private func items(_ request: APIOperation.Request) async throws(APIError) -> PageResponse {
        let source = try await api.configured(request["source"] ?? "")
        let (stored, readAt) = try await APIRoutes.read { () async throws(JournalError) in
            let reader = try await api.journal.reader()
            let head = try await reader.sourceRecord(of: source.name)?.snapshot
            return (try await reader.items(of: source.name), head?.goodAt ?? api.clock.now().wall)
        }
        let after = request["after"]
        let keys = stored.values.filter { row in
            row.isShown(in: source.kind.mode, readAt: readAt)
                && after.map { $0.utf8.lexicographicallyPrecedes(row.key.utf8) } != false
        }.map(\.key).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let limit = Int(request.number("limit", default: APIRoutes.usualPage))
        var (items, hasMore) = ([Item](), false)
        // A row is decoded when it is on the page, or when its state decides.
        for key in keys {
            try APIRoutes.checkTime()
            guard let item = stored[key]?.item, request["state"].map({ $0 == item.state }) != false else { continue }
            hasMore = items.count == limit
            if hasMore { break }
            items.append(item)
        }
        let next = hasMore ? items.last.map { APIRoutes.address(request, "/api/v1/items", ["after": $0.key]) } : nil
        return APIRoutes.respond(items.map(\.json), next: next)
    }
}
