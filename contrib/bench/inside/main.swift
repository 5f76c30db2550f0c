// SPDX-License-Identifier: Apache-2.0
//
// Parts of Vedette measured inside one process, where start-up and network would hide them:
//
//     vedette-parts atom FILE        bytes per second, from bytes to items
//     vedette-parts json FILE        the same of a list
//     vedette-parts unchanged FILE   bytes per second of a body that is known already
//     vedette-parts diff COUNT       seconds to compare a list of so many items, of which ten changed
//     vedette-parts route COUNT      seconds per event with so many rules, two of which match
//
// Each prints the best of several rounds.

import Glibc
import VedetteCore
import VedetteSources
import VedetteSystem

struct Trouble: Error {
    var text: String
}

func contents(of path: String) throws -> [UInt8] {
    guard let file = fopen(path, "rb") else { throw Trouble(text: "\(path) cannot be read") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&block, 1, block.count, file), count > 0 { bytes += block[..<count] }
    return bytes
}

/// Seconds per call, of the best of seven rounds of at least a tenth of a second.
func best(_ work: () throws -> Void) rethrows -> Double {
    var best = Double.infinity
    for _ in 0..<7 {
        var (count, elapsed) = (0.0, 0.0)
        while elapsed < 0.1 {
            let time = try ContinuousClock().measure(work)
            elapsed += Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
            count += 1
        }
        best = min(best, elapsed / count)
    }
    return best
}

func kind(_ name: String, _ options: [String: OptionValue]) throws -> any SourceKind {
    guard let entry = SourceKinds.all.first(where: { $0.name == name }) else {
        throw Trouble(text: "no kind '\(name)'")
    }
    return try entry.make(Options(options))
}

/// The bytes are copied for each reading, as a fetched body is each time another one.
func reading(_ path: String, _ kind: any SourceKind) throws -> Double {
    let bytes = try contents(of: path)
    let seconds = try best {
        var body: [UInt8] = []
        body.reserveCapacity(bytes.count + 64)
        body += bytes
        var page = PageBody(bytes: body, url: "https://lab.example.org/")
        guard try !kind.read(&page).items.isEmpty else { throw Trouble(text: "\(path) holds no items") }
    }
    return Double(bytes.count) / seconds
}

func source(_ kind: any SourceKind) -> Source {
    Source(
        name: "s", kindName: "json", kind: kind, server: Server(name: ""), url: "https://lab.example.org/",
        interval: PollInterval(every: .seconds(60)))
}

func comparing(_ count: Int) throws -> Double {
    let kind = try kind("json", [:])
    let now = Timestamp(milliseconds: 0)
    let differ = Differ(source: source(kind), now: now)
    var items = (0..<count).map { Item(key: "k\($0)", title: "item \($0)", state: "up", fields: ["owner": "somebody"]) }
    let first = differ.compare(nil, stored: [:], with: Observation(items: items, mode: .list))
    let stored = Dictionary(uniqueKeysWithValues: first.writes.map { ($0.key, $0) })
    for i in stride(from: 0, to: count, by: max(1, count / 10)) { items[i].state = "down" }
    let changed = Observation(items: items, mode: .list)
    return best { _ = differ.compare(first.head, stored: stored, with: changed) }
}

struct UTC: CivilTime {
    func offset(at time: Timestamp, in zone: String?) -> Int { 0 }
}

func routing(_ count: Int) -> Double {
    let rules = (0..<count).map { i in
        Rule(
            name: "r\(i)",
            when: .all([
                .source(["s\(i % 100)"], text: ""), .item("key", .oneOf(["k\(i / 2)"])),
                .field("state", from: nil, to: .oneOf(["down"])),
            ]), notify: [Rule.NotificationTarget(sink: "out")])
    }
    let set = RuleSet(rules)
    let events = (0..<100).map { i in
        Event(
            id: Identifier("e"), kind: .changed, time: Timestamp(milliseconds: 0), source: "s\(i)", sourceKind: "json",
            poll: "p", item: Item(key: "k\(i / 2)", state: "down"),
            changes: [FieldChange(field: "state", from: "up", to: "down")])
    }
    let now = RuleTime(steady: Timestamp(milliseconds: 0), wall: Timestamp(milliseconds: 0))
    var engine = RuleEngine(set, civil: UTC())
    return best { for event in events { _ = engine.evaluate(event, at: now) { Identifier("m") } } } / 100
}

func measure(_ arguments: [String]) throws -> Double {
    guard arguments.count == 2 else {
        throw Trouble(text: "usage: vedette-parts atom|json|unchanged FILE | diff|route COUNT")
    }
    let (what, argument) = (arguments[0], arguments[1])
    switch what {
    case "atom": return try reading(argument, kind("feed", [:]))
    case "json":
        return try reading(
            argument,
            kind("json", ["state": .list([.text("status")]), "fields": .map([("owner", .text("owner.name"))])]))
    case "unchanged":
        let bytes = try contents(of: argument)
        var sum: UInt64 = 0
        let seconds = best { sum &+= StableHash.of(bytes) }
        return sum == 0 ? 0 : Double(bytes.count) / seconds
    case "diff": return try comparing(Int(argument) ?? 0)
    case "route": return routing(Int(argument) ?? 0)
    default: throw Trouble(text: "'\(what)' is nothing that is measured here")
    }
}

// As the program does.
Allocator.returnLargeBuffers()
Allocator.keepSmallBuffers()
do {
    print(try measure(Array(CommandLine.arguments.dropFirst())))
} catch {
    let words = Array("vedette-parts: \((error as? Trouble)?.text ?? "\(error)")\n".utf8)
    _ = write(STDERR_FILENO, words, words.count)
    exit(69)
}
