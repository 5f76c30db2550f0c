// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Cookies in the journal")
struct CookieTests {
    let scratch = Scratch()

    private func holds(_ word: String) throws -> Bool {
        for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.path + "/" + name))
            if bytes.range(of: Data(word.utf8)) != nil { return true }
        }
        return false
    }

    @Test("a jar is read after a restart by its session; another replaces it; an empty one deletes it")
    func keeps() async throws {
        var journal = try scratch.open()
        #expect(await journal.cookies(of: "lab") == nil)
        await journal.keep(Array(#"[{"é":1}]"#.utf8), of: "lab")
        await journal.keep(Array("[2]".utf8), of: "other")
        try journal.close()
        journal = try scratch.open()
        #expect(await journal.cookies(of: "lab") == Array(#"[{"é":1}]"#.utf8))
        await journal.keep(Array("[3]".utf8), of: "lab")
        #expect(await journal.cookies(of: "lab") == Array("[3]".utf8))
        await journal.keep([], of: "lab")
        #expect(await journal.cookies(of: "lab") == nil)
        #expect(await journal.cookies(of: "other") == Array("[2]".utf8))
        try journal.close()
    }

    @Test("the jar of a server that is gone is deleted, and overwritten in the file")
    func forgotten() async throws {
        let journal = try scratch.open()
        await journal.keep(Array("JSESSIONID=secret-of-gone".utf8), of: "gone")
        await journal.keep(Array("JSESSIONID=secret-of-kept".utf8), of: "kept")
        try await journal.forgetCookies(keeping: ["kept"])
        #expect(await journal.cookies(of: "gone") == nil)
        #expect(await journal.cookies(of: "kept") != nil)
        #expect(try !holds("secret-of-gone"), "while the journal is open, its log included")
        try journal.close()
        #expect(try !holds("secret-of-gone"))
        #expect(try holds("secret-of-kept"))
    }

    @Test("a jar that was replaced leaves no copy, in the file or its log, after the next upkeep")
    func replaced() async throws {
        let journal = try scratch.open()
        await journal.keep(Array("JSESSIONID=secret-before".utf8), of: "lab")
        await journal.keep(Array("JSESSIONID=secret-after".utf8), of: "lab")
        try await journal.forgetCookies(keeping: ["lab"])
        #expect(try !holds("secret-before") && holds("secret-after"))
        try journal.close()
    }
}

@Suite("The watcher's own events")
struct WatcherEventTests {
    let scratch = Scratch()

    @Test("the last event of two types is found among other events, also of a source of the watcher's name")
    func last() async throws {
        let journal = try scratch.open()
        #expect(try await journal.lastOfWatcher(.offline, or: .online) == nil)
        let words: [(Int, Event.Kind)] = [(1, .offline), (2, .online), (3, .failing), (4, .unequal)]
        _ = try await journal.commit([
            poll(events: words.map { event($0.0, source: Event.watcher, kind: $0.1) } + [event(5)])
        ])
        #expect(try await journal.lastOfWatcher(.offline, or: .online)?.kind == .online)
        #expect(try await journal.lastOfWatcher(.unequal, or: .equal)?.kind == .unequal)
        try journal.close()
    }

    @Test("a suppressed delivery is committed with its reason as an end, and is not pending")
    func suppressed() async throws {
        let journal = try scratch.open()
        let cause = event(1)
        var second = delivery(2, of: cause)
        (second.state, second.reason) = (.suppressed, "said before")
        let committed = try await journal.commit([poll(events: [cause], deliveries: [delivery(1, of: cause), second])])
        #expect(committed[0].deliveries.map(\.state) == [.pending, .suppressed])
        let pending = try await journal.pending(
            in: DeliveryLane(source: "lab", sink: "team", priority: .high), after: 0, limit: 9)
        #expect(pending.map(\.message.id) == ["msg_1"])
        try journal.close()
        let all = try await scratch.reader().deliveries(limit: 9)
        #expect(all.map(\.state) == [.pending, .suppressed])
        #expect(all[1].endedAt == second.created && all[1].delivery.reason == "said before")
    }
}
