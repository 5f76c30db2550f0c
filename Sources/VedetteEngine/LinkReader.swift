// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What the linked resources of one source said, as long as each is believed.
struct LinkCache: Sendable {
    /// However many links a list names, no more answers are kept (I8).
    static let most = 10_000

    private struct Answer: Sendable {
        var notes: Fields
        var until: BootTime
    }

    private var answers: [ItemLink: Answer] = [:]

    /// What it said last, also when that is no longer fresh.
    func notes(of link: ItemLink) -> Fields? { answers[link]?.notes }

    func isFresh(_ link: ItemLink, at now: BootTime) -> Bool { answers[link].map { $0.until > now } ?? false }

    mutating func keep(_ notes: Fields, of link: ItemLink, at now: BootTime) {
        guard answers[link] != nil || answers.count < LinkCache.most else { return }
        answers[link] = Answer(notes: notes, until: now.advanced(by: link.lifetime))
    }

    /// Lets go of what no item names any more.
    mutating func keepOnly(_ links: Set<ItemLink>) { answers = answers.filter { links.contains($0.key) } }
}

/// Follows the links of items. An answer adds notes to its item; none is ever a reason for a poll to fail.
struct LinkReader: Sendable {
    /// Resources asked for in one poll; what is beyond waits for the next.
    static let mostPerPoll = 200
    private static let atOnce = 4

    let requester: Requester
    let kind: any SourceKind
    let fetcher: any Fetcher
    let clock: any Clock
    let ask: Ask
    /// A response that named them came from the internet.
    let isPublic: Bool

    private enum Answer: Sendable {
        case said([(link: ItemLink, notes: Fields)])
        case failed(String)
        case cancelled
    }

    /// Asks for what the cache has not, each address once.
    /// - Returns: what went wrong, a sentence each.
    func refresh(_ cache: inout LinkCache, _ links: [ItemLink]) async -> [String] {
        let now = clock.now().boot
        let stale = Dictionary(grouping: links.filter { !cache.isFresh($0, at: now) }, by: \.url)
        var warnings: [String] = []
        // In the order in which the items name them.
        var (urls, seen) = ([String](), Set<String>())
        for link in links where stale[link.url] != nil && seen.insert(link.url).inserted { urls.append(link.url) }
        if urls.count > LinkReader.mostPerPoll {
            warnings.append("\(urls.count - LinkReader.mostPerPoll) linked resources wait for the next poll")
        }
        let batch = urls.prefix(LinkReader.mostPerPoll).map { stale[$0] ?? [] }
        for answer in await answers(to: batch) {
            switch answer {
            case .said(let notes): for note in notes { cache.keep(note.notes, of: note.link, at: now) }
            case .failed(let warning): warnings.append(warning)
            case .cancelled: break
            }
        }
        return warnings
    }

    private func answers(to batch: [[ItemLink]]) async -> [Answer] {
        await withTaskGroup(of: Answer.self) { group in
            var answers: [Answer] = []
            for (i, links) in batch.enumerated() {
                if i >= LinkReader.atOnce, let answer = await group.next() { answers.append(answer) }
                group.addTask { await answer(to: links) }
            }
            for await answer in group { answers.append(answer) }
            return answers
        }
    }

    /// - Parameter links: of one address.
    private func answer(to links: [ItemLink]) async -> Answer {
        guard let link = links.first else { return .said([]) }
        switch await fetched(link) {
        case .success(let response): return await LinkReader.read(links, response, with: kind, at: clock.now().wall)
        case .failure(let error) where error.failure == .cancelled: return .cancelled
        case .failure(let error): return .failed("\(link.name) was not read: \(error.detail)")
        }
    }

    private func fetched(_ link: ItemLink) async -> Result<Response, FetchError> {
        do throws(FetchError) {
            let response = try await fetcher.fetch(try requester.link(link.url, ask, isPublic: isPublic))
            if let failure = Failure(status: response.status) {
                throw FetchError(failure, PollReader.sentence(status: response.status, failure))
            }
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    @concurrent
    private static func read(
        _ links: [ItemLink], _ response: Response, with kind: any SourceKind, at now: Timestamp
    ) async -> Answer {
        var said: [(link: ItemLink, notes: Fields)] = []
        for link in links {
            var body = PageBody(
                bytes: response.body, headers: response.headers, url: response.url, receivedAt: now)
            do throws(ReadError) {
                said.append((link, try kind.read(link, &body)))
            } catch {
                return .failed("\(link.name) was not read: \(error.detail)")
            }
        }
        return .said(said)
    }
}

extension PollReader {
    /// Adds to the items what their links say.
    func follow(
        of items: inout [Item], _ ask: Ask, isPublic: Bool
    ) async -> (warnings: [String], cache: LinkCache?) {
        let named = items.map { source.kind.links(of: $0, base: source.url, all: false) }
        let all = named.flatMap { $0 }
        guard !all.isEmpty else { return ([], nil) }
        let reader = LinkReader(
            requester: requester, kind: source.kind, fetcher: fetcher, clock: clock, ask: ask, isPublic: isPublic)
        var cache = links
        cache.keepOnly(Set(all))
        let warnings = await reader.refresh(&cache, all)
        for i in items.indices {
            for link in named[i] { items[i].take(cache.notes(of: link)) }
        }
        return (warnings, cache)
    }
}

extension Item {
    mutating func take(_ notes: Fields?) {
        for note in notes ?? [:] { self.notes[note.name] = note.value }
    }
}
