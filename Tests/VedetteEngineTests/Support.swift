// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport
@testable import VedetteEngine

/// Reads lines of `key=state` or `key@seconds=state`; a `Next` header names the next page, `Whole` a whole window; `<` is a login page.
struct LineKind: SourceKind {
    var mode = ReadingMode.list
    var identity: UInt64 = 1
    var jqProgram: String?
    /// Asks for what is newer than the last poll, at another address each time.
    var asksSince = false
    var body: [UInt8]?
    /// Each page has it.
    var emptyHint: String?
    /// A state that some item should have.
    var wanted: String?
    var fingerprints: [String: UInt64] = [:]
    var fieldNames: [String]? { nil }

    func request(base: String, context: PollContext) -> RequestTemplate {
        guard asksSince else { return RequestTemplate(method: body == nil ? "GET" : "POST", url: base, body: body) }
        return RequestTemplate(url: base + "?since=\(context.now.milliseconds)")
    }

    /// Of a state `@resource`, believed for one poll where its path has `/now/`; a person is shown another one.
    func links(of item: Item, base: String, all: Bool) -> [ItemLink] {
        guard let state = item.state, state.hasPrefix("@") else { return [] }
        let lifetime = Duration.seconds(state.contains("/now/") ? 0 : 300)
        let owner = ItemLink("owner", url: String(state.dropFirst()), lifetime: lifetime)
        return all ? [owner, ItemLink("more", url: "https://a.example/more")] : [owner]
    }

    func read(_ link: ItemLink, _ page: inout PageBody) throws(ReadError) -> Fields {
        guard !page.bytes.isEmpty else { throw ReadError(.empty, "there is nothing") }
        return [link.name: .text(String(decoding: page.bytes, as: UTF8.self))]
    }

    /// A text behind `!`.
    func refusal(in page: PageBody) -> String? {
        page.bytes.first == UInt8(ascii: "!") ? String(decoding: page.bytes.dropFirst(), as: UTF8.self) : nil
    }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let text = String(decoding: page.bytes, as: UTF8.self)
        guard !text.hasPrefix("<") else { throw ReadError(.wrongType, "HTML where lines were asked for") }
        let items = text.split(separator: "\n").map { line in
            let parts = line.split(separator: "=", maxSplits: 1)
            let values = parts.count > 1 ? parts[1].split(separator: "~", maxSplits: 1) : []
            let key = parts[0].split(separator: "@")
            // `@` alone is an item without a key.
            var item = Item(key: key.first.map(String.init) ?? "", state: values.first.map(String.init))
            if key.count > 1 { item.time = Int64(key[1]).map { Timestamp(milliseconds: $0 * 1000) } }
            if values.count > 1 { item.measures["latency"] = .text(String(values[1])) }
            return item
        }
        let next = page.headers["Next"].map { NextPage($0, body: page.headers["Next-Body"].map { Array($0.utf8) }) }
        var read = Page(items: items, next: next, isComplete: page.headers["Whole"] != nil)
        read.emptyHint = emptyHint
        if let wanted, !items.contains(where: { $0.state == wanted }) { read.absences = ["no item is \(wanted)"] }
        return read
    }
}

func source(
    _ name: String, every: Duration = .seconds(60), mode: ReadingMode = .list, identity: UInt64 = 1,
    host: String? = nil, server: Server? = nil
) -> Source {
    Source(
        name: name, kindName: "lines", kind: LineKind(mode: mode, identity: identity),
        server: server ?? Server(name: name), url: url(name, host: host), interval: PollInterval(every: every))
}

func source(
    _ name: String, _ kind: any SourceKind, every: Duration = .seconds(60), fails: Int = 3, server: Server? = nil
) -> Source {
    Source(
        name: name, kindName: "lines", kind: kind, server: server ?? Server(name: name), url: url(name),
        interval: PollInterval(every: every), fails: fails)
}

/// Observes the response: its status is the state, none is `down`, and the latency a measure.
struct StatusKind: ObservingKind {
    let bodyFields: Set<String> = []
    let mode = ReadingMode.list
    let identity: UInt64 = 1
    let fingerprints: [String: UInt64] = [:]
    let fieldNames: [String]? = nil

    func request(base: String, context: PollContext) -> RequestTemplate {
        RequestTemplate(url: base, redirects: 0, inspectsConnection: true)
    }

    func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }

    func observe(_ seen: Observed, _ context: ObservationContext) -> Page {
        var item = Item(key: context.url)
        switch seen {
        case .failed(let error): (item.state, item.notes) = ("down", ["why": .text(error.failure.rawValue)])
        case .response(let response):
            item.state = response.status < 500 ? "up" : "down"
            item.fields["status"] = .text("\(response.status)")
            item.measures["latency"] = .text(response.headers["Latency"] ?? "1")
        }
        return Page(items: [item])
    }

    func isDown(_ item: Item) -> Bool { item.state == "down" }
}

/// Reverses the body, or refuses it.
struct FakeShaper: BodyTransformer {
    func transform(_ body: [UInt8], with program: String) async throws(ReadError) -> [UInt8] {
        guard program == "reverse" else { throw ReadError(.malformed, "jq does not know '\(program)'") }
        return body.reversed()
    }
}

func url(_ name: String, host: String? = nil) -> String { "https://\(host ?? name).example/\(name)" }

/// One rule: every item event to the sink.
func everything(to sinks: String...) -> RuleSet {
    RuleSet([
        Rule(
            name: "all", when: .any([.appears, .disappears, .changes(["state"]), .sourceState([.failing])]),
            notify: sinks.map { Rule.NotificationTarget(sink: $0) })
    ])
}

/// UTC everywhere.
struct Greenwich: CivilTime {
    func offset(at time: Timestamp, in zone: String?) -> Int { 0 }
}

/// A watcher and a courier with fakes all around.
struct World {
    let clock: ManualClock
    let fetcher = FakeFetcher()
    let journal: FakeJournal
    let log = LogLines()
    let sink = FakeSink()
    let dispatcher: Dispatcher
    let watcher: Watcher

    /// - Parameter seed: a second watcher of a journal needs another one, since both give ids.
    init(
        _ sources: [Source] = [], rules: RuleSet = everything(to: "k"), journal: FakeJournal = FakeJournal(),
        clock: ManualClock = ManualClock(), sinks others: [String: any Sink] = [:],
        policy: [String: DeliveryPolicy] = [:], fingerprints: [String: UInt64] = [:],
        memory: PollMemory = PollMemory(), meter: any Meter = NoMeter(), seed: UInt64 = 7
    ) {
        (self.journal, self.clock) = (journal, clock)
        let executor = QueueExecutor()
        fetcher.callBack(on: executor)
        let dependencies = Dependencies(
            fetcher: fetcher, journal: journal, clock: clock, random: SeededRandom(seed), log: log,
            userAgent: "test/1", transformer: FakeShaper(), civil: Greenwich(), memory: memory, meter: meter)
        let sinks = others.merging(["k": sink]) { other, _ in other }
        dispatcher = Dispatcher(dependencies, on: executor, sinks: sinks, policy: policy, fingerprints: fingerprints)
        watcher = Watcher(
            WatchConfiguration(sources: sources, rules: rules), dependencies, on: executor, dispatcher: dispatcher)
    }

    /// Takes up what the journal kept, as the program does.
    func restore() async throws {
        try await watcher.restore()
        try await dispatcher.restore(after: await watcher.newestStored)
    }

    /// Runs the watcher while `body` does; stops it afterwards.
    func run(_ body: () async throws -> Void) async throws {
        try await restore()
        let watcher = watcher
        let running = Task { await watcher.run() }
        do {
            try await body()
        } catch {
            await watcher.stop()
            throw error
        }
        await watcher.stop()
        await running.value
    }

    /// So many unchanged polls are written, or the watcher wakes within five seconds to write them.
    func isAboutToWrite(_ count: Int) async -> Bool {
        if await journal.deferred.joined().count >= count { return true }
        return clock.untilNext.map { $0 <= DeferredWrites.delay } ?? false
    }

    /// Advances by small steps until the condition holds, or far more than `about` has passed: the shells work on their
    /// own thread while the clock runs, so a busy machine may let it run ahead of them.
    func advance(_ about: Duration, until condition: () async -> Bool) async throws {
        var left = about * 50
        while left > .zero {
            clock.advance(.milliseconds(500))
            left -= .milliseconds(500)
            for _ in 0..<40 { await Task.yield() }
            // The clock waits at each step for the watcher's thread, which may be late.
            _ = await watcher.isIdle
            if await condition() { return }
        }
        try await until(condition)
    }
}

extension Watcher {
    var isIdle: Bool { schedule.isIdle }
    var pollsUnderWay: Int { schedule.all.count { $0.isPolled } }
    /// Every source is being polled or waits for a slot.
    var isNothingScheduled: Bool { schedule.nextPoll == nil }
    var slowOrigins: Set<String> { network.slowOrigins }
    /// The record in memory, which may not be written yet.
    func record(of source: String) -> SourceRecord? { schedule[source]?.record }
}

struct NeverHappened: Error {}

/// Yields until the condition holds; it gives up after very many turns, whatever the clock says.
func until(_ condition: () async -> Bool) async throws {
    for _ in 0..<2_000_000 {
        if await condition() { return }
        await Task.yield()
    }
    throw NeverHappened()
}
