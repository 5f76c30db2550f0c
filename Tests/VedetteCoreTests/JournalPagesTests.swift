// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import VedetteCore

@Suite("Pages of a journal")
struct JournalPagesTests {
    /// Counts the rows that exist.
    private final class Counter: Sendable {
        private let state = Mutex((made: 0, live: 0, most: 0))
        var made: Int { state.withLock { $0.made } }
        var most: Int { state.withLock { $0.most } }

        func add() {
            state.withLock { state in
                state.made += 1
                state.live += 1
                state.most = max(state.most, state.live)
            }
        }

        func remove() { state.withLock { $0.live -= 1 } }
    }

    private final class Row: Sendable {
        let number: Int64
        private let counter: Counter

        init(_ number: Int64, _ counter: Counter) {
            (self.number, self.counter) = (number, counter)
            counter.add()
        }

        deinit { counter.remove() }
    }

    @Test(
        "however many rows a command reads, three pages of them are in memory at most, and the first is there before the last is read"
    )
    func bounded() async throws {
        let (counter, count) = (Counter(), Int64(10_000))
        let pages = JournalPages<Row>(size: 100, number: \.number) { after, limit async throws(JournalError) in
            let end = min(after + Int64(limit), count)
            return after < end ? (after + 1...end).map { Row($0, counter) } : []
        }
        var seen: Int64 = 0
        for try await page in pages {
            // The next page is read while this one is used.
            if seen == 0 { #expect(counter.made <= 200) }
            #expect(page.map(\.number) == Array(seen + 1...seen + Int64(page.count)))
            seen += Int64(page.count)
        }
        #expect(seen == count && counter.made == Int(count))
        #expect(counter.most <= 300)
    }
}
