// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Events as lines and as a feed; those to come, as a stream, are in `EventStreamRoute`.
struct EventRoutes: Sendable {
    let api: APIRoutes

    private static let filters = [
        APIRoutes.source, APIParameter("key", "Only about the item with this key."), APIRoutes.rule,
        APIParameter(
            "type", .choice(Event.Kind.stored.map(\.word)),
            "Only events of this type."),
    ]

    private static let after = APIParameter(
        "after", .number(0...Int64.max), "Only events with a greater `data.seq`; else the newest.")

    private static let unknown = APIOperation.Response.problem(404, "There is no such source or rule")

    var operations: [APIOperation] {
        [
            APIOperation(
                pattern: "/api/v1/events", name: "events",
                summary: "Events, as `tail --json`; with `Accept: text/event-stream` those to come, as they are stored",
                parameters: Self.filters + [
                    APIParameter("since", .time, "Only events of this time or later."), Self.after, APIRoutes.limit,
                    EventStreamRoute.lastEventID,
                ],
                responses: [
                    APIRoutes.lines("Event", "Stored events, the oldest first"),
                    .init(
                        contentType: "text/event-stream", description: "Server-sent events; each id is a `data.seq`"),
                    Self.unknown,
                ]
            ) { request throws(APIError) in
                try await checkNames(request)
                guard EventStreamRoute.isWanted(request) else { return try await events(request) }
                return try await EventStreamRoute(api: api).respond(request, filter(request))
            },
            APIOperation(
                pattern: "/events.atom", name: "feed", summary: "Events as an Atom feed, the newest first",
                parameters: Self.filters + [APIParameter("page", .number(1...AtomFeed.mostPages), "Older events.")],
                responses: [.init(contentType: "application/atom+xml", description: "The feed"), Self.unknown]
            ) { request throws(APIError) in
                try await checkNames(request)
                return try await feed(request)
            },
        ]
    }

    /// Refuses a source or rule that is neither configured nor named by an event of the journal, as `tail` does: there would
    /// never be an event.
    private func checkNames(_ request: APIOperation.Request) async throws(APIError) {
        let configuration = await api.configuration()
        let sources = configuration.sources.map(\.name) + configuration.sinks.map(\.name) + [Event.watcher]
        let (source, rule) = (request["source"], request["rule"])
        try await api.check("source", source, among: sources) { reader async throws(JournalError) in
            try await !reader.lastEvents(1, EventFilter(source: source)).isEmpty
        }
        try await api.check("rule", rule, among: configuration.rules.map(\.name)) { reader async throws(JournalError) in
            try await !reader.lastEvents(1, EventFilter(rule: rule)).isEmpty
        }
    }

    private func filter(_ request: APIOperation.Request) -> EventFilter {
        let kind = request["type"].flatMap { word in Event.Kind.stored.first { $0.word == word } }
        return EventFilter(
            source: request["source"], rule: request["rule"], key: request["key"], kinds: Set(kind.map { [$0] } ?? []),
            since: request.time("since"))
    }

    private func events(_ request: APIOperation.Request) async throws(APIError) -> PageResponse {
        let (filter, limit) = (filter(request), Int(request.number("limit", default: APIRoutes.usualPage)))
        let after = request["after"].flatMap { Int64($0) }
        let found = try await APIRoutes.read { () async throws(JournalError) in
            let reader = try await api.journal.reader()
            guard let after else { return try await reader.lastEvents(limit, filter) }
            return try await reader.events(after: after, filter, limit: limit + 1)
        }
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { "\($0.seq)" } : nil
        return APIRoutes.respond(
            page.map(\.json), next: next.map { APIRoutes.address(request, "/api/v1/events", ["after": $0]) })
    }

    private func feed(_ request: APIOperation.Request) async throws(APIError) -> PageResponse {
        let (filter, page) = (filter(request), request.number("page", default: 1))
        let wanted = Int(page) * AtomFeed.pageLength
        let newest = try await APIRoutes.read { () async throws(JournalError) in
            try await api.journal.reader().lastEvents(wanted + 1, filter)
        }
        let events = newest.reversed().dropFirst(wanted - AtomFeed.pageLength).prefix(AtomFeed.pageLength)
        let hasNext = newest.count > wanted && page < AtomFeed.mostPages
        func address(_ page: Int64) -> String { APIRoutes.address(request, "/events.atom", ["page": "\(page)"]) }
        let text = AtomFeed(
            address: page == 1 && request.values.isEmpty ? "/events.atom" : address(page),
            next: hasNext ? address(page + 1) : nil, events: Array(events)
        ).text
        // A reader polls it often, and most of the time nothing is new.
        var digest = StableHash()
        digest.add(text)
        let tag = "\"\(String(digest.value, radix: 16))\""
        let headers = [HeaderField("ETag", tag), HeaderField("Cache-Control", "no-cache")]
        // Of a response without a change only the length of the body is sent (RFC 9110 §8.6).
        return .text(
            text, status: request.request.has(tag: tag) ? 304 : 200, contentType: AtomFeed.contentType, headers: headers
        )
    }
}
