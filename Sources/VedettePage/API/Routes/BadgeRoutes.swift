// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Pictures for pages of others.
struct BadgeRoutes: Sendable {
    let api: APIRoutes

    var operations: [APIOperation] {
        [
            APIOperation(
                pattern: "/badge/{source}/{picture}", name: "badge",
                summary: "The state of an item, as a small picture",
                parameters: [
                    .path("source", "The source."), .path("picture", "The key of the item, with `.svg` at the end."),
                ],
                responses: [
                    .init(contentType: "image/svg+xml", description: "The picture"),
                    .init(status: 404, contentType: "image/svg+xml", description: "There is no such item"),
                ], otherSites: .everything
            ) { request throws(APIError) in try await badge(request) }
        ]
    }

    private func badge(_ request: APIOperation.Request) async throws(APIError) -> PageResponse {
        let picture = request["picture"] ?? ""
        let key = picture.hasSuffix(".svg") ? String(picture.dropLast(4)) : picture
        let source = await api.configuration().sources.first { $0.name == request["source"] }
        var item: Item?
        if let source {
            item = try await APIRoutes.read { () async throws(JournalError) in
                try await api.journal.reader().items(of: source.name, withKeys: [key])[key].flatMap {
                    $0.absentSince == nil ? $0.item : nil
                }
            }
        }
        let state = item.map { $0.state ?? "there" } ?? "unknown"
        let meaning = item?.state.flatMap { api.meaning($0, source?.kindName ?? "") }
        let badge = Badge(label: item?.title ?? key, state: state, meaning: meaning)
        return .text(
            badge.svg, status: item == nil ? 404 : 200, contentType: Badge.contentType,
            // Other sites may show it, which is what it is for.
            headers: [
                HeaderField("Cache-Control", "no-cache"), HeaderField("Cross-Origin-Resource-Policy", "cross-origin"),
            ])
    }
}
