// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore
import VedetteTestSupport

/// A clock that moves only by `advance`.
final class StillClock: VedetteCore.Clock {
    private let wall: Mutex<Timestamp>

    init(_ text: String = "2026-11-21T10:00:00Z") {
        wall = Mutex(Timestamp(rfc3339: text) ?? Timestamp(milliseconds: 0))
    }

    func now() -> Moment {
        let wall = wall.withLock { $0 }
        return Moment(wall: wall, boot: BootTime(milliseconds: wall.milliseconds))
    }

    func sleep(until deadline: BootTime) async throws(CancellationError) {}

    func advance(by duration: Duration) { wall.withLock { $0 = $0.advanced(by: duration) } }
}

/// A fetcher that refuses requests that no sink may make, and gives a scripted answer.
final class ScriptedFetcher: AwaitingFetcher {
    private let answer: @Sendable (Request) -> Result<Response, FetchError>
    private let seen = Mutex<[Request]>([])

    init(_ answer: @escaping @Sendable (Request) -> Result<Response, FetchError>) { self.answer = answer }

    convenience init(status: Int, headers: [(String, String)] = []) {
        let headers = ResponseHeaders(headers)
        self.init { _ in .success(Response(status: status, headers: headers)) }
    }

    var requests: [Request] { seen.withLock { $0 } }

    func answer(to request: Request) async throws(FetchError) -> Response {
        seen.withLock { $0.append(request) }
        if let complaint = ScriptedFetcher.complaint(about: request) {
            throw FetchError(.configuration, "illegal request: " + complaint)
        }
        return try answer(request).get()
    }

    private static func complaint(about request: Request) -> String? {
        let headers = request.headers.map { ($0.name, $0.value) } + [("method", request.method), ("url", request.url)]
        if headers.contains(where: { ($0 + $1).utf8.contains { $0 < 32 || $0 == 127 } }) { return "control character" }
        let names = request.headers.map { $0.name.lowercased() }
        if Set(names).count != names.count { return "a header twice" }
        if request.lane != .deliveries || request.group == nil { return "not in the deliveries' lane" }
        if request.redirects != 0 { return "would follow redirects" }
        if request.limits.received > 64 << 10 || request.limits.inflated > 64 << 10 { return "reply not bounded" }
        if request.limits.total > .seconds(30) { return "would wait too long" }
        return request.body.map { (try? JSON(parsing: $0)) == nil } ?? true ? "body is no JSON" : nil
    }
}

extension Event {
    static func changed(
        title: String = "prod-1", key: String = "59", url: String? = nil, time: String = "2026-11-21T10:00:00Z",
        from: Value? = "Starting", to: Value? = "Ready for use", lasted: Double? = 252.4
    ) -> Event {
        Event(
            id: Identifier("0199a"), seq: 1042, kind: .changed, time: Timestamp(rfc3339: time)!, source: "lab-systems",
            sourceKind: "cloudburst", poll: "p-7f3a",
            item: Item(
                key: key, title: title, state: to?.description, url: url, fields: ["owner": "/resources/users/6"]),
            changes: [FieldChange(field: "state", from: from, to: to, lasted: lasted)])
    }

    static func about(_ kind: Kind, item: Item? = nil, error: Problem? = nil) -> Event {
        Event(
            id: Identifier("0199b"), seq: 7, kind: kind, time: Timestamp(rfc3339: "2026-11-21T10:00:00Z")!,
            source: "lab-systems", sourceKind: "cloudburst", poll: "p-1", item: item, error: error)
    }
}

extension Message {
    static func of(
        _ event: Event = .changed(), id: String = "msg_0199", title: String = "prod-1: Ready for use",
        text: String = "Starting → Ready for use", priority: Priority = .normal
    ) -> Message {
        Message(id: id, rule: "ready", sink: "test", event: event, title: title, text: text, priority: priority)
    }
}

extension Outcome {
    var reason: String? {
        switch self {
        case .delivered: nil
        case .retry(let reason, _), .rejected(let reason), .paused(let reason), .disabled(let reason): reason
        }
    }

    var isRetry: Bool {
        if case .retry = self { true } else { false }
    }
}

/// Hostile titles.
let hostileTitles = [
    "\u{1B}]0;owned\u{07}\u{1B}[2J", "a\r\nX-Injected: 1", "quote\" back\\slash", "<b>&amp;<img src=x>",
    "\u{202E}txt.exe\u{2066}", "@everyone <!channel>", "\u{0}\u{7F}\u{85}", "",
    String(repeating: "a\u{301}", count: 50_000),
]
