// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What the lab served, what the journal holds, and what the receiver got: the three must agree.
struct Ledger {
    let events: [[String: Any]]
    /// Of each system, what it was over time as the lab served it, each once in a row; nil where it was absent.
    private let served: [String: [String?]]
    private let baseline: [String: String]
    private let posts: [[String: Any]]
    private let deliveries: [Delivery]
    private let now: [String: String]

    private struct Delivery {
        var message: String
        var event: String
        var state: String
        var reason: String?
    }

    init(_ world: Appliance, baseline: [[String: Any]]) async throws {
        events = try await world.home.events()
        let log = (try await world.lab.get("control", "/lab/log") as? [[String: Any]]) ?? []
        served = Ledger.lives(in: log.compactMap { $0["systems"] as? [[Any]] })
        self.baseline = Ledger.states(of: baseline)
        now = Ledger.states(of: try await world.home.items("systems").compactMap(Program.object))
        posts = (try await world.lab.get("receiver", "/received") as? [[String: Any]]) ?? []
        deliveries = try await Ledger.deliveries(world.home)
    }

    // What is compared of a system, as one text.

    private static func states(of items: [[String: Any]]) -> [String: String] {
        Dictionary(items.map { ($0.text("key") ?? "", essence($0)) }) { $1 }
    }

    private static func essence(_ item: [String: Any]) -> String {
        let args = (item.at("fields", "args") as? [String]) ?? []
        let texts = [item.text("title"), item.text("state"), item.text("fields", "message")].map { $0 ?? "" }
        return (texts + [args.joined(separator: "|")]).joined(separator: " / ")
    }

    private static func essence(_ row: [Any]) -> String {
        let (name, code) = (row[1] as? String ?? "", row[2] as? String ?? "")
        let coded = (row[3] as? String ?? "").split(separator: "(", maxSplits: 1).map(String.init)
        let message = coded.first ?? ""
        let args = (coded.count > 1 ? coded[1] : "").dropLast(1).split(separator: ",").map { arg in
            let plain = arg.dropFirst().dropLast().replacing("+", with: " ")
            return String(plain).removingPercentEncoding ?? ""
        }
        let names = [
            "RM01005": "Starting", "RM01011": "Stopped", "RM01901": "Queued", "RM01902": "Failed",
            "RM01903": "Stopping",
        ]
        let state = code == "RM01006" ? (message == "RM07045" ? "Ready for use" : "Started") : names[code] ?? code
        return [name, state, message, args.joined(separator: "|")].joined(separator: " / ")
    }

    private static func lives(in lists: [[[Any]]]) -> [String: [String?]] {
        var lives: [String: [String?]] = [:]
        for list in lists {
            let states = Dictionary(list.map { ("\($0[0])", essence($0)) }) { $1 }
            for key in Set(lives.keys).union(states.keys) where lives[key]?.last != .some(states[key]) {
                lives[key, default: []].append(states[key])
            }
        }
        return lives
    }

    /// Read by Python's sqlite3, in read-only mode: another reader than the program's own.
    private static func deliveries(_ home: Home) async throws -> [Delivery] {
        let script = """
            import json, sqlite3, sys
            db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
            for row in db.execute("select d.message, e.id, d.state, d.reason from delivery d join event e on e.seq = d.event "
                                  "where d.sink = 'hook' order by d.id"):
                print(json.dumps(dict(zip(("message", "event", "state", "reason"), row))))
            """
        let child = try Child("/usr/bin/env", ["python3", "-c", script, home.state.appending(path: "journal.db").path])
        guard await child.end() == 0 else { throw Trouble(child.text(of: .err)) }
        return child.lines(of: .out).compactMap(Program.object).map {
            Delivery(
                message: $0.text("message") ?? "", event: $0.text("event") ?? "", state: $0.text("state") ?? "",
                reason: $0.text("reason"))
        }
    }

    /// Numbers without a gap, ids without a repeat.
    func checkEvents() {
        #expect(events.compactMap { $0.at("data", "seq") as? Int } == Array(1...max(1, events.count)))
        #expect(Set(events.compactMap { $0.text("id") }).count == events.count)
    }

    /// Each system's events lead from the baseline to what is there now, without a break, and each state on the way was
    /// served by the lab in that order.
    func checkHistory() {
        var known: [String: String?] = baseline.mapValues { $0 }
        for (key, own) in Dictionary(grouping: events, by: { $0.text("subject") ?? "" }) where !key.isEmpty {
            var rest = (served[key] ?? [])[...]
            for event in own {
                let state = event.text("type") == "io.vedette.item.disappeared" ? nil : Ledger.essence(event.item)
                guard let at = rest.firstIndex(of: state) else {
                    Issue.record("\(key): \(state ?? "absent") was not served after what came before")
                    break
                }
                rest = rest[at...]
                checkChanges(of: event, from: known[key] ?? nil)
                known[key] = .some(state)
            }
        }
        #expect(known.compactMapValues { $0 } == now)
    }

    /// I3: `from` is what the journal held before.
    private func checkChanges(of event: [String: Any], from old: String?) {
        let changes = (event.at("data", "changes") as? [[String: Any]]) ?? []
        guard let change = changes.first(where: { $0.text("field") == "state" }), let from = change.text("from") else {
            return
        }
        #expect(old?.split(separator: " / ").dropFirst().first.map(String.init) == from, "\(event.text("id") ?? "")")
    }

    /// I5: committed events = delivered ∪ pending ∪ ended with a reason; I4: an id has one body.
    func checkDeliveries() {
        let items = events.filter { $0.text("type")?.contains(".item.") == true }.compactMap { $0.text("id") }
        #expect(Set(deliveries.map(\.event)) == Set(items))
        #expect(Set(deliveries.map(\.message)).count == deliveries.count)
        let accepted = Set(posts.filter { $0["accepted"] as? Bool == true }.map(\.messageID))
        for delivery in deliveries {
            switch delivery.state {
            case "sent": #expect(accepted.contains(delivery.message), "\(delivery)")
            case "dead", "suppressed": #expect(delivery.reason?.isEmpty == false, "\(delivery)")
            default: #expect(["pending", "retry", "paused"].contains(delivery.state), "\(delivery)")
            }
        }
        #expect(Set(posts.map(\.messageID)).isSubset(of: Set(deliveries.map(\.message))))
        for (id, same) in Dictionary(grouping: posts, by: \.messageID) {
            #expect(Set(same.compactMap { $0["body"] as? String }).count == 1, "\(id)")
        }
    }

    /// I6: whatever is repeated, each message's first acceptance is in the order of the events.
    func checkOrder() {
        var seen: Set<String> = []
        let first = posts.filter { $0["accepted"] as? Bool == true && seen.insert($0.messageID).inserted }
        let order = Dictionary(uniqueKeysWithValues: deliveries.enumerated().map { ($1.message, $0) })
        let numbers = first.compactMap { order[$0.messageID] }
        #expect(numbers == numbers.sorted())
        let bodies = first.compactMap { Program.object($0["body"] as? String ?? "") }
        let known = Dictionary(uniqueKeysWithValues: events.map { ($0.text("id") ?? "", NSDictionary(dictionary: $0)) })
        for body in bodies {
            #expect(known[body.text("id") ?? ""]?.isEqual(to: body.withoutMessage) == true, "\(body)")
            #expect(body.text("rule") == body.at("data", "message", "rule") as? String, "\(body)")
        }
    }
}

extension [String: Any] {
    /// The event of a message, without what the message adds to it.
    fileprivate var withoutMessage: [String: Any] {
        var event = filter { !["rule", "priority", "tags", "suppressed"].contains($0.key) }
        event["data"] = (self["data"] as? [String: Any])?.filter { $0.key != "message" }
        return event
    }

    /// The item of an event.
    fileprivate var item: [String: Any] { (at("data", "item") as? [String: Any]) ?? [:] }
}
