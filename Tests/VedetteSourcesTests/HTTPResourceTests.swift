// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteSources

@Suite("The http kind")
struct HTTPResourceTests {
    private static let url = "https://www.example.org/health"
    private static let now = Timestamp(milliseconds: 1_795_000_000_000)

    private func observe(_ seen: Observed) throws -> Item { try observe([:], seen) }

    private func observe(_ options: [String: OptionValue], _ seen: Observed) throws -> Item {
        let kind = try #require(try Fixture.kind("http", options) as? any ObservingKind)
        let page = kind.observe(seen, ObservationContext(url: Self.url, now: Self.now))
        #expect(page.items.count == 1)
        return page.items[0]
    }

    private func response(_ status: Int, _ headers: [(String, String)] = [], _ body: String = "") -> Response {
        var response = Response(
            status: status, headers: ResponseHeaders(headers), body: Array(body.utf8), url: Self.url,
            received: body.utf8.count, elapsed: .milliseconds(123))
        response.certificateExpires = Self.now.advanced(by: .seconds(30 * 86_400 + 5))
        return response
    }

    @Test("a good response is up, with its status, its measures and its notes")
    func up() throws {
        let item = try observe(.response(response(200, [("Content-Type", "text/html; charset=utf-8")], "<p>ok")))
        #expect(item.key == Self.url)
        #expect(item.state == "up")
        #expect(item.fields == ["status": "200"])
        #expect(item.measures == ["latency": "123", "certificate_days": "30"])
        #expect(item["status_class"] == "2xx")
        #expect(item["type"] == "text/html")
        #expect(item["size"] == "5")
        #expect(item["reason"] == nil)
        #expect(item["certificate_expires"] == .text(Self.now.advanced(by: .seconds(30 * 86_400 + 5)).rfc3339))
    }

    @Test("a title of the configuration takes the place of the address in messages, and another one is no change")
    func title() throws {
        #expect(try observe([:], .response(response(200))).title == Self.url)
        let titled = try observe(["title": .text("Web shop")], .response(response(500)))
        #expect(titled.title == "Web shop" && titled.key == Self.url && titled.url == Self.url)
        func print(_ title: String) throws -> UInt64? {
            try Fixture.kind("http", ["title": .text(title)]).fingerprints["title"]
        }
        #expect(try print("a") != print("b"))
        #expect(try Fixture.kind("http").fingerprints["title"] == nil, "as before there was the option")
        #expect(throws: OptionProblem.self) { try Fixture.kind("http", ["title": .text(" ")]) }
    }

    @Test("refusal, timeout and 500 are a state, and say why")
    func down() throws {
        let refused = try observe(.failed(FetchError(.refused, "connection refused by www.example.org")))
        #expect(refused.state == "down")
        #expect(refused.fields.isEmpty)
        #expect(refused.measures.isEmpty)
        #expect(refused["reason"] == "connection refused by www.example.org")
        let broken = try observe(.response(response(500)))
        #expect(broken.state == "down")
        #expect(broken.fields == ["status": "500"])
        #expect(broken["reason"] == "the status is 500, not 2xx or 3xx")
        let kind = try #require(try Fixture.kind("http") as? any ObservingKind)
        #expect(kind.isDown(refused) && kind.isDown(broken))
        #expect(try !kind.isDown(observe(.response(response(204)))))
    }

    @Test(
        "the user chooses the statuses that mean up",
        arguments: [
            (["401"], 401, "up"), (["401"], 200, "down"), (["2xx", "404"], 404, "up"), (["5XX"], 503, "up"),
            (["2xx"], 301, "down"),
        ])
    func expect(texts: [String], status: Int, state: String) throws {
        #expect(try observe(["expect": .list(texts.map(OptionValue.text))], .response(response(status))).state == state)
    }

    @Test("the body must contain a text and must not contain another")
    func contents() throws {
        func state(_ options: [String: OptionValue], _ body: String) throws -> String? {
            try observe(options, .response(response(200, [], body))).state
        }
        #expect(try state(["contains": .text("ok")], "oook!") == "up")
        #expect(try state(["contains": .text("ok")], "oo") == "down")
        #expect(try state(["contains": .text("ok")], "") == "down")
        #expect(try state(["lacks": .text("Fehlér")], "ein Fehlér") == "down")
        #expect(try state(["lacks": .text("Fehlér")], "ein Fehler") == "up")
    }

    @Test("a redirect gives its target, or the address where following it ended")
    func redirects() throws {
        let pointing = try observe(.response(response(302, [("Location", "/login?x=1")])))
        #expect(pointing.state == "up")
        #expect(pointing.fields == ["status": "302", "redirect": "https://www.example.org/login?x=1"])
        var led = response(200)
        led.url = "https://www.example.org/new"
        #expect(
            try observe(["redirects": .integer(3)], .response(led)).fields == [
                "status": "200", "redirect": "https://www.example.org/new",
            ])
        let ask = try Fixture.kind("http", ["redirects": .integer(3)]).request(base: Self.url, context: PollContext())
        #expect(ask.redirects == 3)
    }

    @Test("the body, headers and redirect of an error page are not taken for the page's")
    func outage() throws {
        let options: [String: OptionValue] = [
            "body": .text("compare"), "headers": .map([("version", .text("x-version"))]), "lacks": .text("sorry"),
        ]
        let headers = [("X-Version", "0"), ("Location", "/error")]
        for down in [response(500, headers, "oops"), response(301, headers, "sorry")] {
            let item = try observe(options, .response(down))
            #expect(item.state == "down")
            #expect(item.fields == ["status": .text(String(down.status))])
        }
        let kind = try #require(try Fixture.kind("http", options) as? any ObservingKind)
        let up = try observe(options, .response(response(200, [("X-Version", "1")], "page")))
        let stored = [up.key: StoredItem(up, digest: up.digest, stateSince: Self.now)]
        for seen in [Observed.response(response(500, headers, "oops")), .failed(FetchError(.refused, "refused"))] {
            let kept = kind.keepingMeasures([try observe(options, seen)], stored: stored)[0]
            #expect(kept.fields["body"] == up.fields["body"] && kept.fields["version"] == "1")
            #expect(kept.fields["status"] != up.fields["status"])
        }
    }

    @Test("a body and headers are compared only when asked")
    func compared() throws {
        let headers = [("X-Version", "1.2"), ("ETag", "a")]
        let plain = try observe(.response(response(200, headers, "one")))
        #expect(try observe(.response(response(200, headers, "two"))).digest == plain.digest)
        let options: [String: OptionValue] = [
            "body": .text("compare"), "headers": .map([("version", .text("x-version"))]),
        ]
        let one = try observe(options, .response(response(200, headers, "one")))
        let two = try observe(options, .response(response(200, headers, "two")))
        #expect(one["version"] == "1.2")
        #expect(one.digest != two.digest)
        #expect(one.fields["body"] != two.fields["body"])
    }

    @Test("measures are never compared")
    func measures() throws {
        var slow = response(200)
        slow.elapsed = .seconds(9)
        slow.certificateExpires = Self.now.advanced(by: .seconds(-86_400))
        let item = try observe(.response(slow))
        #expect(item.measures == ["latency": "9000", "certificate_days": "-1"])
        #expect(try item.digest == observe(.response(response(200))).digest)
    }

    @Test("it uses a connection of its own and follows no redirect by default")
    func request() throws {
        let ask = try Fixture.kind("http", ["method": .text("HEAD")]).request(base: Self.url, context: PollContext())
        #expect(ask.method == "HEAD")
        #expect(ask.redirects == 0)
        #expect(ask.inspectsConnection)
    }

    @Test(
        "an invalid option is refused with its place",
        arguments: [
            (["expect": OptionValue.list([.text("2xx"), .text("ok")])], ["expect", "ok"]),
            (["expect": .list([.text("20x")])], ["expect", "20x"]),
            (["expect": .list([.text("600")])], ["expect", "600"]),
            (["method": .text("HEAD"), "contains": .text("x")], ["contains"]),
            (["method": .text("HEAD"), "body": .text("compare")], ["body"]), (["lacks": .text("")], ["lacks"]),
            (["headers": .map([("status", .text("x"))])], ["headers", "status"]),
            (["headers": .map([("a", .text("b: c"))])], ["headers", "a"]),
        ])
    func badOptions(options: [String: OptionValue], path: [String]) {
        let error = #expect(throws: OptionProblem.self) { try Fixture.kind("http", options) }
        #expect(error?.path == path)
    }

    @Test("the error about a header's name does not print it: it may be a secret in the wrong place", .tags(.I9))
    func secretInHeaders() {
        let headers = OptionValue.map([("Authorization", .text("Bearer hunter2"))])
        let error = #expect(throws: OptionProblem.self) { try Fixture.kind("http", ["headers": headers]) }
        #expect(error?.detail.contains("hunter2") == false)
    }

    @Test("bytes on disk are read as a good response, the same each time")
    func file() throws {
        var page = PageBody(bytes: Array("hello".utf8), url: "https://file.example.org/")
        let first = try Fixture.kind("http").read(&page)
        #expect(first.items[0].state == "up")
        #expect(try Fixture.kind("http").read(&page).items == first.items)
    }
}
