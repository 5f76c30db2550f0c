// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("What kinds keep of pages")
struct ReadingCacheTests {
    /// Keeps the body of each page, and notes what it was given.
    private struct KeepingKind: SourceKind {
        let given: Given
        let mode = ReadingMode.list
        let identity: UInt64 = 1
        let fingerprints: [String: UInt64] = [:]
        let fieldNames: [String]? = nil

        final class Given: Sendable {
            private let all = Mutex<[String]>([])
            var texts: [String] { all.withLock { $0 } }
            func add(_ text: String) { all.withLock { $0.append(text) } }
        }

        func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }

        func read(_ page: inout PageBody) throws(ReadError) -> Page {
            given.add(page.wantsCache ? page.cache?.content as? String ?? "nothing" : "first")
            let text = String(decoding: page.bytes, as: UTF8.self)
            var read = Page(items: [Item(key: "a", title: text)])
            if page.wantsCache { read.cache = ReadingCache(text, bytes: 100) }
            return read
        }
    }

    @Test("a page that changed is read with what was kept of the last one that did, and the first one keeps nothing")
    func handedOn() async throws {
        let given = KeepingKind.Given()
        let world = World([source("a", KeepingKind(given: given))])
        let expected = ["first", "nothing", "second", "third"]
        try await world.run {
            for (number, text) in ["first", "second", "third", "fourth"].enumerated() {
                world.fetcher.serve(url("a"), text)
                try await world.advance(.seconds(60)) { given.texts.count > number }
            }
        }
        #expect(given.texts == expected)
    }

    @Test("all of them are bounded, those unused for an hour are evicted, and those of removed sources go")
    func bounds() {
        var caches = ReadingCaches(limit: 800)
        let start = BootTime(milliseconds: 0)
        func cache(_ bytes: Int) -> ReadingCache { ReadingCache("", bytes: bytes) }
        for source in 0..<9 { caches.keep(cache(100), of: source, at: start) }
        #expect((0..<9).filter { caches[$0] != nil } == Array(0..<8) && caches.bytes == 800)
        caches.keep(cache(50), of: 7, at: start.advanced(by: .seconds(3000)))
        caches.keep(cache(100), of: 9, at: start.advanced(by: .seconds(3599)))
        #expect(caches[9] == nil && caches.bytes == 750)
        caches.keep(cache(100), of: 9, at: start.advanced(by: .seconds(3600)))
        #expect(caches[9] != nil && caches[7] != nil && caches[0] == nil && caches.bytes == 150)
        caches.keepOnly([7, 8])
        #expect(caches[9] == nil && caches[7] != nil && caches.bytes == 50)
    }
}
