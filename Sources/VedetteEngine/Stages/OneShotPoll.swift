// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// One poll on demand: read like any other, and not stored.
public struct OneShotPoll: Sendable {
    private let fetcher: any Fetcher
    private let clock: any Clock
    private let userAgent: String
    private let transformer: (any BodyTransformer)?

    public init(fetcher: any Fetcher, clock: any Clock, userAgent: String, transformer: (any BodyTransformer)? = nil) {
        (self.fetcher, self.clock, self.userAgent, self.transformer) = (fetcher, clock, userAgent, transformer)
    }

    /// Returns the items of the source: every page of a list, the first page of a window.
    public func items(of source: Source) async throws(ReadError) -> [Item] {
        let requests = RequestBuilder(source: source, lane: .polls, userAgent: userAgent)
        let poll = PollReader(
            source: source, snapshot: nil,
            prepared: requests.prepared(after: nil, now: clock.now().wall, reusing: nil), fetcher: fetcher,
            clock: clock, userAgent: userAgent, transformer: transformer, storedItems: { [:] })
        let result: PollResult
        do throws(JournalError) {
            result = try await poll.result()
        } catch {
            throw ReadError(.configuration, error.detail)
        }
        switch result.outcome {
        case .read(let difference): return difference.writes.compactMap(\.item)
        case .failed(let failure, let detail): throw ReadError(failure, detail)
        case .unconfirmed(let detail): throw ReadError(.network, detail)
        case .unchanged:
            throw ReadError(.protocol, "the server answered 'not modified' to a request that set no condition")
        case .cancelled, .opened, .expired: throw ReadError(.cancelled, "the request was cancelled")
        }
    }

    /// Reads all linked resources of an item; returns their notes and one warning per failure.
    ///
    /// Where the item came from is not known here, so a link to another origin than the source's is followed to public
    /// addresses alone, unless the server `allowsPrivate`.
    public func links(of item: Item, in source: Source) async -> (notes: Fields, warnings: [String]) {
        let links = source.kind.links(of: item, base: source.url, all: true)
        let context = PollContext(now: clock.now().wall)
        let reader = LinkReader(
            requestBuilder: RequestBuilder(source: source, lane: .polls, userAgent: userAgent), kind: source.kind,
            fetcher: fetcher, clock: clock, template: source.kind.request(base: source.url, context: context),
            isPublic: nil)
        var cache = LinkCache()
        let warnings = await reader.refresh(&cache, links)
        var item = Item(key: item.key)
        for link in links { item.take(cache.notes(of: link)) }
        return (item.notes, warnings)
    }
}
