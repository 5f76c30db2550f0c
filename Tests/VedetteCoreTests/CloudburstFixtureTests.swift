// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

/// The appliance's bodies mapped by hand, without the kind: what the differ alone must make of them.
@Suite("Differ: the appliance's four polls")
struct CloudburstFixtureTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures")
    private static let states = [
        "RM01005": "Starting", "RM01011": "Stopped", "RM01901": "Queued", "RM01902": "Failed", "RM01903": "Stopping",
    ]

    private static func items(_ number: Int) throws -> [Item] {
        let data = try Data(contentsOf: fixtures.appending(path: "cloudburst-virtualSystems-\(number).json"))
        let rows = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        return try rows.map { row in
            let code = try #require(row["currentstatus"] as? String)
            let message = row["currentmessage"] as? String ?? ""
            let split = message.firstIndex(of: "(") ?? message.endIndex
            let name = String(message[..<split])
            let args = message[split...].dropFirst().dropLast().split(separator: ",").map { part in
                let text = part.dropFirst().dropLast().replacingOccurrences(of: "+", with: " ")
                return text.removingPercentEncoding ?? text
            }
            let started = name == "RM07045" ? "Ready for use" : "Started"
            return Item(
                key: "\(try #require(row["id"] as? Int))", title: row["name"] as? String,
                state: code == "RM01006" ? started : states[code] ?? code,
                fields: ["message": .text(name), "args": .list(args), "owner": .text(row["owner"] as? String ?? "")],
                notes: ["state_text": .text(row["currentstatus_text"] as? String ?? "")])
        }
    }

    /// One event as a line that two programs would write alike.
    private static func line(_ poll: Int, _ event: DraftEvent) -> String {
        let changes = event.changes.sorted { $0.field < $1.field }.map { change in
            "\(change.field): \(text(change.from?.json)) > \(text(change.to?.json))"
        }
        let item = event.item
        return "\(poll) \(event.kind.word) \(item?.key ?? "") \(item?.title ?? "") \(item?.state ?? "") \(changes)"
    }

    private static func line(_ expected: JSON) throws -> String {
        let changes = (expected["changes"]?.array ?? []).sorted {
            ($0["field"]?.string ?? "") < ($1["field"]?.string ?? "")
        }
        .map { "\($0["field"]?.string ?? ""): \(text($0["from"])) > \(text($0["to"]))" }
        let words = ["type", "key", "title", "state"].map { expected[$0]?.string ?? "" }
        return "\(try #require(expected["poll"]?.int64)) \(words.joined(separator: " ")) \(changes)"
    }

    private static func text(_ value: JSON?) -> String { value?.text ?? "null" }

    @Test("they make the expected events and nothing else: nothing for 67, for order, for language, for one absence")
    func fourPolls() throws {
        let file = Self.fixtures.appending(path: "expected-events-cloudburst.ndjson")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let expected = try lines.map { try Self.line(JSON(parsing: $0.utf8)) }
        var memory = Memory()
        var seen: [String] = []
        for poll in 1...4 {
            let events = memory.poll(source(), try Self.items(poll), at: at(Int64(poll) * 15))
            seen += events.map { Self.line(poll, $0) }
        }
        #expect(seen.sorted() == expected.sorted())
        #expect(memory.head?.pendingAbsences == 1)
        #expect(memory.poll(source(), try Self.items(4), at: at(75)).map(\.short) == ["disappeared 63"])
    }
}
