// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Where a stream of events begins: after the last event that the client has (`Last-Event-ID`), else with the events to come.
struct EventStreamRoute: Sendable {
    let api: APIRoutes

    static let lastEventID: APIParameter = {
        var parameter = APIParameter(
            "Last-Event-ID", .number(0...Int64.max), "The id of the last event that a stream brought.")
        parameter.place = .header
        return parameter
    }()

    /// Whether the client asks for a stream rather than for stored events.
    static func isWanted(_ request: APIOperation.Request) -> Bool {
        request.request.header("accept")?.lowercased().contains("text/event-stream") ?? false
    }

    /// Returns the response with the events that the filter passes.
    func respond(_ request: APIOperation.Request, _ filter: EventFilter) async throws(APIError) -> PageResponse {
        let known = (request["Last-Event-ID"] ?? request["after"]).flatMap { Int64($0) }
        let stream = try await APIRoutes.read { () async throws(JournalError) in
            let last: Int64 = if let known { known } else { try await api.journal.reader().lastSeq() }
            return EventStream(after: last, filter, api.hub, shared: api.shared, clock: api.clock)
        }
        return PageResponse(
            contentType: EventStream.contentType, headers: [HeaderField("Cache-Control", "no-store")],
            body: .stream(stream))
    }
}
