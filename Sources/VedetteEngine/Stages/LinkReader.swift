// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Follows the links of items. An answer adds notes to its item; none is ever a reason for a poll to fail.
struct LinkReader: Sendable {
    /// Resources asked for in one poll; what is beyond waits for the next.
    static let mostPerPoll = 200
    private static let atOnce = 4

    let requestBuilder: RequestBuilder
    let kind: any SourceKind
    let fetcher: any Fetcher
    let clock: any Clock
    let ask: RequestTemplate
    /// Whether a response that named them came from a public address; nil when unknown.
    let isPublic: Bool?

    private enum Answer: Sendable {
        case read([(link: ItemLink, notes: Fields)])
        case failed([ItemLink], String, silence: (origin: String, time: Duration)?)
        case cancelled
    }

    /// Asks for what the cache has not, each address once.
    /// - Returns: what went wrong, a sentence each.
    func refresh(_ cache: inout LinkCache, _ links: [ItemLink]) async -> [String] {
        let now = clock.now().boot
        let stale = stale(links, cache, at: now)
        var warnings: [String] = []
        if stale.count > LinkReader.mostPerPoll {
            warnings.append("\(stale.count - LinkReader.mostPerPoll) linked resources wait for the next poll")
        }
        let batch = Array(stale.prefix(LinkReader.mostPerPoll))
        for link in batch.joined() { cache.ask(link) }
        for answer in await answers(to: batch) {
            switch answer {
            case .read(let notes): for note in notes { cache.keep(note.notes, of: note.link, at: now) }
            case .failed(let links, let warning, let silence):
                for link in links { cache.failed(link, at: now) }
                if let silence { cache.silence(silence.origin, for: silence.time, at: now) }
                warnings.append(warning)
            case .cancelled: break
            }
        }
        return warnings
    }

    /// By address, those first that have waited longest, in the order in which the items name them: else the last of many
    /// would never have their turn.
    private func stale(_ links: [ItemLink], _ cache: LinkCache, at now: BootTime) -> [[ItemLink]] {
        var places: [String: Int] = [:]
        var stale: [[ItemLink]] = []
        var seen = Set<ItemLink>()
        for link in links where seen.insert(link).inserted && !cache.rests(link, at: now) {
            if let place = places[link.url] {
                stale[place].append(link)
            } else {
                places[link.url] = stale.count
                stale.append([link])
            }
        }
        let turns = stale.map { $0.compactMap(cache.lastTurn).max() ?? 0 }
        return stale.indices.sorted { (turns[$0], $0) < (turns[$1], $1) }.map { stale[$0] }
    }

    private func answers(to batch: [[ItemLink]]) async -> [Answer] {
        await withTaskGroup(of: Answer.self) { group in
            var answers: [Answer] = []
            var silent = Set<String>()
            var running = 0
            for links in batch {
                if running >= LinkReader.atOnce, let answer = await group.next() {
                    answers.append(answer)
                    running -= 1
                    if case .failed(_, _, let silence?) = answer { silent.insert(silence.origin) }
                }
                guard let url = links.first?.url, !silent.contains(WebURL(url)?.origin ?? "") else { continue }
                group.addTask { await answer(to: links) }
                running += 1
            }
            for await answer in group { answers.append(answer) }
            return answers
        }
    }

    /// - Parameter links: of one address.
    private func answer(to links: [ItemLink]) async -> Answer {
        guard let link = links.first else { return .read([]) }
        let response: Response
        do throws(FetchError) {
            response = try await fetcher.fetch(try requestBuilder.link(link.url, ask, isPublic: isPublic))
        } catch {
            if error.failure == .cancelled { return .cancelled }
            return .failed(links, "failed to read \(link.name): \(error.detail)", silence: nil)
        }
        guard let failure = Failure(status: response.status) else {
            return await LinkReader.read(
                links, response, with: kind, requestBuilder.source.server.redactor(for: response),
                at: clock.now().wall)
        }
        let sentence = PollStages.sentence(status: response.status, failure)
        let asked = response.headers.retryAfter(at: clock.now().wall).map(PollInterval.clamped(retryAfter:))
        let silence = asked.flatMap { time in WebURL(link.url).map { (origin: $0.origin, time: time) } }
        return .failed(links, "failed to read \(link.name): \(sentence)", silence: silence)
    }

    @concurrent
    private static func read(
        _ links: [ItemLink], _ response: Response, with kind: any SourceKind, _ redactor: SecretRedactor?,
        at now: Timestamp
    ) async -> Answer {
        var answers: [(link: ItemLink, notes: Fields)] = []
        for link in links {
            var body = PageBody(
                bytes: response.body, headers: response.headers, url: response.url, receivedAt: now)
            do throws(ReadError) {
                let notes = try kind.read(link, &body)
                answers.append((link, redactor?.redacted(notes) ?? notes))
            } catch {
                let detail = redactor?.redacted(error.detail) ?? error.detail
                return .failed(links, "failed to read \(link.name): \(detail)", silence: nil)
            }
        }
        return .read(answers)
    }
}

extension PollStages {
    /// Adds the notes of linked resources to the items.
    func readLinks(
        of items: inout [Item], _ ask: RequestTemplate, isPublic: Bool
    ) async -> (warnings: [String], cache: LinkCache?) {
        let named = items.map { source.kind.links(of: $0, base: source.url, all: false) }
        let all = named.flatMap { $0 }
        guard !all.isEmpty else { return ([], nil) }
        let reader = LinkReader(
            requestBuilder: requests, kind: source.kind, fetcher: fetcher, clock: clock, ask: ask,
            isPublic: isPublic)
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
