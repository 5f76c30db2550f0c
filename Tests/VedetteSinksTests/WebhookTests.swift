// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteSinks

@Suite("webhook")
struct WebhookTests {
    let clock = StillClock()

    func sink(
        _ fetcher: ScriptedFetcher, _ options: [String: OptionValue] = [:]
    ) throws -> any Sink {
        let all = options.merging(["url": .text("https://ops.example.com/in/t0ken?k=s3cret")]) { mine, _ in mine }
        let services = SinkServices(fetcher: fetcher, clock: clock, userAgent: "vedette/1.0")
        return try WebhookKind.entry.make(Options(all))("hook", services)
    }

    func outcome(status: Int, headers: [(String, String)] = []) async throws -> Outcome {
        try await sink(ScriptedFetcher(status: status, headers: headers)).deliver(.of())
    }

    @Test("every status from 100 to 599 has its outcome, and none leaks the url", .tags(.I9))
    func statuses() async throws {
        for status in 100...599 {
            let outcome = try await outcome(status: status)
            switch outcome {
            case .delivered: #expect((200..<300).contains(status))
            case .disabled: #expect(status == 410)
            case .paused: #expect([401, 403, 407].contains(status))
            case .retry(_, let after):
                #expect(status < 200 || status >= 500 || [408, 421, 425, 429].contains(status))
                #expect(after == nil)
            case .rejected:
                #expect((300..<500).contains(status))
                #expect(![401, 403, 407, 408, 410, 421, 425, 429].contains(status))
            }
            let reason = outcome.reason ?? ""
            #expect(!reason.contains("t0ken") && !reason.contains("s3cret") && !reason.contains("ops.example.com"))
            #expect(outcome == .delivered || reason.contains("\(status)"))
        }
    }

    @Test("a redirect is refused, and the reason says so")
    func redirect() async throws {
        let outcome = try await outcome(status: 302, headers: [("Location", "https://evil.example/steal")])
        #expect(outcome.reason?.contains("redirects are not followed") == true)
        #expect(outcome.reason?.contains("evil") == false)
    }

    @Test("Retry-After is obeyed up to an hour, on 429 and 503")
    func retryAfter() async throws {
        for status in [429, 503] {
            let outcome = try await outcome(status: status, headers: [("retry-after", "120")])
            #expect(outcome == .retry(reason: "the receiver answered \(status)", after: .seconds(120)))
        }
    }

    @Test(
        "an attempt without a usable answer is retried: whether the receiver took it is unknown",
        arguments: Failure.allCases)
    func failures(_ failure: Failure) async throws {
        let fetcher = ScriptedFetcher { _ in .failure(FetchError(failure, "said so")) }
        #expect(try await sink(fetcher).deliver(.of()).isRetry)
    }

    @Test("the body is the event, with the same bytes as in other outputs; id and time are headers")
    func request() async throws {
        let fetcher = ScriptedFetcher(status: 204)
        let message = Message.of(title: "own title", text: "own text")
        #expect(try await sink(fetcher).deliver(message) == .delivered)
        let request = try #require(fetcher.requests.first)
        #expect(request.method == "POST")
        #expect(request.url == "https://ops.example.com/in/t0ken?k=s3cret")
        #expect(request.body == message.json.bytes)
        #expect(request.group == "hook")
        let headers = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        #expect(
            headers == [
                "webhook-id": "msg_0199", "webhook-timestamp": "1795255200",
                "Content-Type": "application/cloudevents+json; charset=utf-8", "User-Agent": "vedette/1.0",
            ])
        #expect(request.limits.total == .seconds(20))
    }

    @Test("a retry sends the same id and body with the time of the attempt", .tags(.I4))
    func retried() async throws {
        let fetcher = ScriptedFetcher(status: 500)
        let sink = try sink(fetcher)
        _ = await sink.deliver(.of())
        clock.advance(by: .seconds(60))
        _ = await sink.deliver(.of())
        func value(_ name: String, _ i: Int) -> String? { fetcher.requests[i].headers.first { $0.name == name }?.value }
        #expect(value("webhook-id", 0) == value("webhook-id", 1))
        #expect(fetcher.requests[0].body == fetcher.requests[1].body)
        #expect(value("webhook-timestamp", 0) == "1795255200")
        #expect(value("webhook-timestamp", 1) == "1795255260")
    }

    @Test("hostile titles never leave the JSON", arguments: hostileTitles)
    func hostile(_ title: String) async throws {
        let fetcher = ScriptedFetcher(status: 200)
        let event = Event.changed(title: title)
        #expect(try await sink(fetcher).deliver(.of(event, title: title)) == .delivered)
        let body = try #require(fetcher.requests.first?.body)
        #expect(try JSON(parsing: body)["data"]?["item"]?["title"]?.string == title)
    }

    @Test("own method, headers, credentials and timeout are used; own content type wins")
    func options() async throws {
        let fetcher = ScriptedFetcher(status: 200)
        let sink = try sink(
            fetcher,
            [
                "method": .text("PUT"), "timeout": .duration(.seconds(5)), "user": .text("ann"),
                "password": .secret(Secret("p4ss")),
                "headers": .headers([
                    Header("X-Key", Secret("k3y")), Header("content-type", "application/json"),
                ]),
            ])
        #expect(await sink.deliver(.of()) == .delivered)
        let request = try #require(fetcher.requests.first)
        #expect(request.method == "PUT")
        #expect(request.limits.total == .seconds(5) && request.limits.connect == .seconds(5))
        #expect(request.credentials?.user == "ann" && request.credentials?.password.value == "p4ss")
        #expect(request.headers.contains { $0.name == "X-Key" && $0.isSecret })
        #expect(request.headers.filter { $0.name.lowercased() == "content-type" }.map(\.value) == ["application/json"])
    }

    @Test(
        "a wrong option is refused with its path, and a secret is not quoted",
        arguments: [
            (["url": .text("ftp://x")], ["url"]), (["url": .text("https://")], ["url"]),
            (["url": .text("https://a:s3cret@x/")], ["url"]), (["url": .secret(Secret("s3cret"))], ["url"]),
            (["url": .text("https://x/a b")], ["url"]), (["url": .text("https://s3cret:99999/")], ["url"]),
            (["url": .text("https://[::1/s3cret")], ["url"]), (["url": .text("https://{{s3cret}}/")], ["url"]),
            (["method": .text("CONNECT")], ["method"]), (["method": .text("head")], ["method"]),
            (["method": .text("PO ST")], ["method"]), (["timeout": .duration(.zero)], ["timeout"]),
            (["headers": .headers([Header("a b", "x")])], ["headers", "a b"]),
            (["headers": .headers([Header("Host", "x")])], ["headers", "Host"]),
            (["headers": .headers([Header("X", Secret("s3cret\r\nY: z"))])], ["headers", "X"]),
            (["user": .text("ann")], ["user"]), (["password": .secret(Secret("s3cret"))], ["password"]),
        ] as [([String: OptionValue], [String])])
    func wrongOptions(_ options: [String: OptionValue], _ path: [String]) throws {
        let problem = try #require(throws: OptionProblem.self) {
            try sink(ScriptedFetcher(status: 200), options)
        }
        #expect(problem.path == path)
        #expect(!problem.detail.contains("s3cret"))
    }

    @Test("a secret that becomes invalid later pauses the sink before anything is sent")
    func rotated() async throws {
        let secret = Secret("good") { "bad\r\nX-Injected: 1" }
        let fetcher = ScriptedFetcher(status: 200)
        let sink = try sink(fetcher, ["headers": .headers([Header("X-Key", secret)])])
        #expect(await secret.refresh())
        let outcome = await sink.deliver(.of())
        #expect(outcome == .paused(reason: "the sink's header X-Key has a line break in its value"))
        #expect(fetcher.requests.isEmpty)
    }
}

@Suite("Retry-After")
struct RetryAfterTests {
    let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!

    @Test(
        "seconds and dates are read, at most an hour is obeyed, anything else is ignored",
        arguments: [
            ("0", nil), ("120", 120), ("3600", 3600), ("1000000000000", 3600), ("99999999999999999999999999", 3600),
            ("Sat, 21 Nov 2026 10:02:00 GMT", 120), ("Sun, 21 Nov 2027 10:02:00 GMT", 3600),
            ("Sat, 21 Nov 2026 09:59:59 GMT", nil), ("-5", nil), ("", nil), ("soon", nil), ("1.5", nil), ("٣", nil),
            ("Sat, 31 Feb 2026 10:02:00 GMT", nil), ("Sat, 21 Nov 2026 10:02:00 CET", nil),
            ("Saturday, 21-Nov-26 10:02:00 GMT", 120),
        ] as [(String, Int?)])
    func parse(_ text: String, _ seconds: Int?) {
        let asked = ResponseHeaders([("Retry-After", text)]).retryAfter(at: now)
        let outcome = ReceiverOutcome.of(status: 503, retryAfter: asked)
        #expect(outcome == .retry(reason: "the receiver answered 503", after: seconds.map { .seconds($0) }))
    }
}
