// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteEngine
import VedetteTestSupport

@testable import VedetteSources

@Suite("The cloudburst kind")
struct CloudBurstTests {
    static let codes: [String: OptionValue] = [
        "codes": .map([
            ("RM01901", .text("Queued")), ("RM01902", .text("Failed")), ("RM01903", .text("Stopping")),
        ])
    ]

    /// An event as the expectation file has it: without ids, times and what it does not mention.
    private func line(_ poll: Int, _ event: Event) -> JSON {
        .members([
            "poll": .number(poll), "type": .string(event.kind.word), "key": .string(event.item?.key ?? ""),
            "title": .string(event.item?.title ?? ""), "state": .string(event.item?.state ?? ""),
            "changes": event.changes.isEmpty
                ? nil
                : .array(
                    event.changes.map { change in
                        .members([
                            "field": .string(change.field), "from": change.from?.json ?? .null,
                            "to": change.to?.json ?? .null,
                        ])
                    }),
        ])
    }

    @Test("four polls in two languages yield exactly the expected events")
    func expectedEvents() async throws {
        let expected = try Fixture.bytes("expected-events-cloudburst.ndjson").split(separator: 10)
            .map { try JSON(parsing: $0).text }
        let replay = Fixture.replay(try Fixture.source("cloudburst", Self.codes))
        var lines: [String] = []
        for poll in 1...4 {
            let result = await replay.poll(
                [try Fixture.page("cloudburst-virtualSystems-\(poll).json")], at: .poll(poll))
            #expect(result.failure == nil)
            lines += result.events.map { line(poll, $0).text }
        }
        #expect(lines.sorted() == expected.sorted())
    }

    @Test("a message is split into its code and its decoded arguments")
    func split() {
        func args(_ text: String) -> [String] { CloudBurstMessage(text).args }
        #expect(CloudBurstMessage("RM07045").code == "RM07045" && args("RM07045") == [])
        let one = CloudBurstMessage(#"RM07054("05WASAdmin+Lab+Application")"#)
        #expect(one.code == "RM07054" && one.args == ["05WASAdmin Lab Application"])
        #expect(args(#"RM07904("Load+data","rc%3D1")"#) == ["Load data", "rc=1"])
        #expect(args(#"RM07904("a,b", "c")"#) == ["a,b", "c"])
        #expect(args(#"RM07904("","c")"#) == ["", "c"])
        #expect(args(#"RM07054("Citt%C3%A0+100%+%+1%zz")"#) == ["Citt\u{E0} 100% % 1%zz"])
        #expect(CloudBurstMessage("free words").code == "free words")
        #expect(CloudBurstMessage("RM1(x").code == "RM1(x")
        #expect(CloudBurstMessage("").code.isEmpty)
    }

    @Test("every cut of the list is an error, never a shorter list", .tags(.I2))
    func truncation() throws {
        let kind = try Fixture.kind("cloudburst")
        let whole = try Fixture.bytes("cloudburst-virtualSystems-1.json")
        let end = (whole.lastIndex(of: UInt8(ascii: "]")) ?? 0)
        for count in stride(from: 0, through: end, by: 7) {
            var page = PageBody(bytes: Array(whole[..<count]), url: "https://a.example")
            #expect(throws: ReadError.self) { try kind.read(&page) }
        }
    }

    @Test("a login page, an error object and a list without ids are failures with their own class")
    func wrongBodies() throws {
        let kind = try Fixture.kind("cloudburst")
        func failure(_ text: String) -> Failure? {
            var page = PageBody(bytes: Array(text.utf8), url: "https://a.example")
            do {
                _ = try kind.read(&page)
                return nil
            } catch {
                return error.failure
            }
        }
        #expect(failure("<!DOCTYPE html><html><body>Login</body></html>") == .wrongType)
        #expect(failure(#"{"error": "no"}"#) == .shape)
        #expect(failure(#"[{"name": "x", "currentstatus": "RM01005"}]"#) == .shape)
        #expect(failure(#"[{"id": 1}]"#) == .shape)
        #expect(failure("[]") == nil)
    }

    @Test("the request asks for the virtual systems with a browser's User-Agent")
    func request() throws {
        let kind = try Fixture.kind("cloudburst")
        let context = PollContext()
        #expect(
            kind.request(base: "https://a.example/", context: context).url
                == "https://a.example/resources/virtualSystems")
        #expect(kind.request(base: "https://a.example/x", context: context).url == "https://a.example/x")
        #expect(
            kind.request(base: "https://a.example", context: context).headers.contains {
                $0.value.hasPrefix("Mozilla/5.0")
            })
    }

    @Test("an invalid code is refused with its place")
    func badCode() {
        #expect(throws: OptionProblem.self) {
            try Fixture.kind("cloudburst", ["codes": .map([("Queued", .text("x"))])])
        }
    }
}
