// SPDX-License-Identifier: Apache-2.0

/// The rows of a query, one page at a time, so that a journal of any size needs the memory of two pages: the next one is
/// read while the consumer uses the one before.
public struct JournalPages<Row: Sendable>: AsyncSequence, Sendable {
    public typealias Element = [Row]
    public typealias Failure = JournalError
    typealias Fetch = @Sendable (_ after: Int64, _ limit: Int) async throws(JournalError) -> [Row]

    private let size: Int
    private let start: Int64
    private let number: @Sendable (Row) -> Int64
    private let fetch: Fetch

    init(size: Int, start: Int64 = 0, number: @escaping @Sendable (Row) -> Int64, fetch: @escaping Fetch) {
        (self.size, self.start, self.number, self.fetch) = (size, start, number, fetch)
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private typealias Result = Swift.Result<[Row], JournalError>

        private let pages: JournalPages
        private var after: Int64
        private var isAtEnd = false
        private var following: Task<Result, Never>?

        fileprivate init(pages: JournalPages) { (self.pages, after) = (pages, pages.start) }

        public mutating func next() async throws(JournalError) -> [Row]? {
            guard !isAtEnd else { return nil }
            let page =
                if let following { try await following.value.get() } else { try await pages.fetch(after, pages.size) }
            isAtEnd = page.count < pages.size
            guard let last = page.last else { return nil }
            after = pages.number(last)
            following = isAtEnd ? nil : read(after)
            return page
        }

        private func read(_ after: Int64) -> Task<Result, Never> {
            Task { [pages] in
                do throws(JournalError) {
                    return .success(try await pages.fetch(after, pages.size))
                } catch {
                    return .failure(error)
                }
            }
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(JournalError) -> [Row]? {
            try await next()
        }
    }
}
