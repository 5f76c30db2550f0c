// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// One poll for a person who asks now: read like any other, remembered by nobody.
public struct LiveReading: Sendable {
    private let fetcher: any Fetcher
    private let clock: any Clock
    private let userAgent: String

    public init(fetcher: any Fetcher, clock: any Clock, userAgent: String) {
        (self.fetcher, self.clock, self.userAgent) = (fetcher, clock, userAgent)
    }

    /// What the source holds: every page of a list, the first page of a window.
    public func items(of source: Source) async throws(ReadError) -> [Item] {
        let reader = PollReader(
            source: source, head: nil, fetcher: fetcher, clock: clock, lane: .polls, userAgent: userAgent,
            storedItems: { [:] })
        let result: PollResult
        do throws(JournalError) {
            result = try await reader.read()
        } catch {
            throw ReadError(.configuration, error.detail)
        }
        switch result {
        case .read(let difference, _, _): return difference.writes.compactMap(\.item)
        case .failed(let failure, let detail, _, _): throw ReadError(failure, detail)
        case .unchanged: throw ReadError(.protocol, "the server said 'not modified' though it was not asked")
        case .cancelled: throw ReadError(.cancelled, "the request was cancelled")
        }
    }
}
