// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the linked resources of items. Each adds notes to its item; a failure of one never fails the poll.
struct LinkReader: Sendable {
    /// Resources requested in one poll; the others wait for the next.
    static let maximumPerPoll = 200
    private static let atOnce = 4

    let requestBuilder: RequestBuilder
    let kind: any SourceKind
    let fetcher: any Fetcher
    let clock: any Clock
    let template: RequestTemplate
    /// Whether a response that named them came from a public address; nil when unknown.
    let isPublic: Bool?

    private enum Answer: Sendable {
        case read([(link: ItemLink, notes: Fields)])
        case failed([ItemLink], String, blocked: (origin: String, time: Duration)?)
        case cancelled
    }

    /// Requests what is not fresh in the cache, each address once.
    /// - Returns: one warning per failure.
    func refresh(_ cache: inout LinkCache, _ links: [ItemLink]) async -> [String] {
        let now = clock.now().boot
        let stale = stale(links, cache, at: now)
        var warnings: [String] = []
        if stale.count > LinkReader.maximumPerPoll {
            warnings.append("\(stale.count - LinkReader.maximumPerPoll) linked resources wait for the next poll")
        }
        let batch = Array(stale.prefix(LinkReader.maximumPerPoll))
        for link in batch.joined() { cache.noteRequest(of: link) }
        for answer in await answers(to: batch) {
            switch answer {
            case .read(let notes): for note in notes { cache.keep(note.notes, of: note.link, at: now) }
            case .failed(let links, let warning, let blocked):
                for link in links { cache.failed(link, at: now) }
                if let blocked { cache.block(blocked.origin, for: blocked.time, at: now) }
                warnings.append(warning)
            case .cancelled: break
            }
        }
        return warnings
    }

    /// Groups stale links by address, least recently requested first, so that none starves.
    private func stale(_ links: [ItemLink], _ cache: LinkCache, at now: BootTime) -> [[ItemLink]] {
        var places: [String: Int] = [:]
        var stale: [[ItemLink]] = []
        var seen = Set<ItemLink>()
        for link in links where seen.insert(link).inserted && !cache.isFreshOrBlocked(link, at: now) {
            if let place = places[link.url] {
                stale[place].append(link)
            } else {
                places[link.url] = stale.count
                stale.append([link])
            }
        }
        let last = stale.map { $0.compactMap(cache.requestNumber).max() ?? 0 }
        return stale.indices.sorted { (last[$0], $0) < (last[$1], $1) }.map { stale[$0] }
    }

    private func answers(to batch: [[ItemLink]]) async -> [Answer] {
        await withTaskGroup(of: Answer.self) { group in
            var answers: [Answer] = []
            var blockedOrigins = Set<String>()
            var running = 0
            for links in batch {
                if running >= LinkReader.atOnce, let answer = await group.next() {
                    answers.append(answer)
                    running -= 1
                    if case .failed(_, _, let blocked?) = answer { blockedOrigins.insert(blocked.origin) }
                }
                guard let url = links.first?.url, !blockedOrigins.contains(WebURL(url)?.origin ?? "") else { continue }
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
            response = try await fetcher.fetch(try requestBuilder.link(link.url, template, isPublic: isPublic))
        } catch {
            if error.failure == .cancelled { return .cancelled }
            return .failed(links, "failed to read \(link.name): \(error.detail)", blocked: nil)
        }
        guard let failure = Failure(status: response.status) else {
            return await LinkReader.read(
                links, response, with: kind, requestBuilder.source.server.redactor(for: response),
                at: clock.now().wall)
        }
        let source = requestBuilder.source
        let sentence = ReadError(
            status: response.status, failure, server: source.server, words: source.refusal(in: response)
        ).detail
        let retryAfter = response.headers.retryAfter(at: clock.now().wall).map(PollInterval.clamped(retryAfter:))
        let blocked = retryAfter.flatMap { time in WebURL(link.url).map { (origin: $0.origin, time: time) } }
        return .failed(links, "failed to read \(link.name): \(sentence)", blocked: blocked)
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
                return .failed(links, "failed to read \(link.name): \(detail)", blocked: nil)
            }
        }
        return .read(answers)
    }
}

extension PollReader {
    /// Adds the notes of linked resources to the items.
    func readLinks(
        of items: inout [Item], _ template: RequestTemplate, isPublic: Bool
    ) async -> (warnings: [String], cache: LinkCache?) {
        let named = items.indices.map { source.kind.links(of: items[$0], base: source.url, all: false) }
        let all = named.flatMap { $0 }
        guard !all.isEmpty else { return ([], nil) }
        let reader = LinkReader(
            requestBuilder: requests, kind: source.kind, fetcher: fetcher, clock: clock, template: template,
            isPublic: isPublic)
        var cache = links
        cache.keepOnly(Set(all))
        let warnings =
            memory?.park() ?? true
            ? await reader.refresh(&cache, all)
            : ["linked resources wait for the next poll: the memory for what polls read is used up"]
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
