// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Every page that the paginator asks for, and what their items link to.
extension PollReader {
    func readPages(from first: inout FirstResponse) async throws(JournalError) -> ReadResult {
        if let failed = failure(of: first.response, method: first.template.method) { return .ended(failed) }
        let isBaseline = snapshot?.identity != source.identity
        // A list has about as many items as last time.
        let expected = source.kind.mode == .list ? snapshot?.count ?? 0 : 0
        guard await reserve(body: first.response.body.count, items: expected) else {
            return .ended(PollResult(.cancelled))
        }
        let stored = isBaseline ? [:] : try await storedItems()
        guard await reserve(body: first.response.body.count, items: expected, stored: stored.count) else {
            return .ended(PollResult(.cancelled))
        }
        let paginator = Paginator(
            mode: source.kind.mode, url: first.response.url, known: isBaseline ? nil : stored,
            newest: isBaseline ? nil : snapshot?.newest, oldest: isBaseline ? nil : snapshot?.oldest,
            now: clock.now().wall,
            comparesDigests: snapshot?.fingerprints == source.fingerprints, kind: source.kind)
        var reading = PageReading(
            paginator: paginator, freshFor: first.response.headers.freshFor, limits: limits,
            deadline: first.startedAt.advanced(by: limits.time), stored: stored.count)
        if let failed = await readAll(&reading, from: &first) { return .ended(failed) }
        let gap = PollReader.problem(of: reading.step)
        // In an incomplete list, items on unread pages would count as absent.
        if let gap, source.kind.mode == .list { return .ended(PollResult(.failed(.pageGap, detail: gap.detail))) }
        reading.end(source.empty)
        var observation = reading.paginator.observation
        (observation.hasEndTag, observation.warning) = (reading.haveEndTags, reading.warning)
        let linked = await readLinks(of: &observation.items, first.template, isPublic: reading.isPublic)
        // Many short rows take more than their bytes tell; what was read fits in the reservation otherwise.
        guard await reserve(body: reading.bytes, items: observation.items.count, stored: stored.count) else {
            return .ended(PollResult(.cancelled))
        }
        // A window's first page stands for the window; a list of several pages has no body of its own.
        if source.kind.mode == .window || (reading.paginator.pages == 1 && !source.hasUnknownNextPage(first.response)) {
            observation.validators = source.validators(of: first.response, at: clock.now().wall)
            (observation.digest, observation.asked) = (first.response.digest, first.requestDigest)
        }
        var items = ReadItems(observation: observation, stored: stored, gap: gap, freshFor: reading.freshFor)
        (items.warnings, items.links) = (reading.warnings + linked.warnings, linked.cache)
        items.movedTo = first.movedTo
        // Over several pages items come twice because entries move while they are read.
        if reading.paginator.pages == 1, reading.paginator.repeats > 0 {
            let times = counted(reading.paginator.repeats, "item")
            items.warnings.append("\(times) with a key that was there already; the first of each counts")
        }
        return .items(items)
    }

    /// Reads pages until the paginator wants no more.
    /// - Returns: why the poll failed; nil when every page was read.
    private func readAll(_ reading: inout PageReading, from first: inout FirstResponse) async -> PollResult? {
        if let failed = await readPage(&first.response, &reading) { return failed }
        var last = first.response
        while case .fetch(let page) = reading.step {
            guard memory?.park() ?? true else {
                let pages = counted(reading.paginator.pages, "page")
                let detail = "the memory for what polls read is used up, after \(pages) of several"
                return PollResult(.failed(.memory, detail: detail))
            }
            switch await fetchNext(page, first.template, after: last) {
            case .failure(let error):
                var result = PollResult(error)
                result.wasAnswered = true
                return result
            case .success(var response):
                if let failed = failure(of: response, method: first.template.method) { return failed }
                let bytes = reading.bytes + response.body.count
                guard await reserve(body: bytes, items: reading.paginator.items.count, stored: reading.stored) else {
                    return PollResult(.cancelled)
                }
                if let failed = await readPage(&response, &reading) { return failed }
                last = response
            }
        }
        return nil
    }

    /// Reads a page, for which the poll has reserved memory, and frees its body; the rest of the response stays.
    private func readPage(_ response: inout Response, _ reading: inout PageReading) async -> PollResult? {
        if !response.isFromPrivate { reading.isPublic = true }
        reading.bytes += response.body.count
        // The poll's reservation holds the body, too: the fetcher's share makes room for another body.
        response.memory = nil
        let isFirst = reading.paginator.pages == 0
        // Other compared fields change neither what keys an entry nor how a page ends.
        let known = snapshot.flatMap { $0.identity == source.identity ? $0 : nil }
        var body = PageBody(
            bytes: response.takeBody(), headers: response.headers, url: response.url,
            number: reading.paginator.pages + 1, receivedAt: clock.now().wall,
            sharedKeys: isFirst ? known?.sharedKeys ?? SharedKeys() : reading.paginator.sharedKeys)
        body.needsEndTag = response.endsWithConnection || known?.hasEndTag == true
        let redactor = source.server.redactor(for: response)
        let page = await PollReader.read(consume body, with: source, transformer, redactor)
        switch page {
        case .failure(let error): return PollResult(error)
        case .success(let page):
            // Behind a list an object without a key is an error; the items that are not there would count as absent.
            if !isFirst, page.doubt == .keyless, reading.paginator.doubt != .keyless {
                let place = "page \(reading.paginator.pages + 1)"
                return PollResult(ReadError(.shape, "\(place) is an object without a key in the place of a list"))
            }
            reading.take(page)
        }
        reading.limit(at: clock.now().boot)
        return nil
    }

    private func fetchNext(
        _ page: NextPage, _ template: RequestTemplate, after response: Response
    ) async -> Result<Response, FetchError> {
        do throws(FetchError) {
            return await fetch(try requests.next(page, template, after: response))
        } catch {
            return .failure(error)
        }
    }

    private static func problem(of step: Paginator.Step) -> Event.Problem? {
        guard case .gap(let detail) = step else { return nil }
        return Event.Problem(failure: Failure.pageGap.rawValue, detail: "the reading has a gap: \(detail)")
    }

    /// Runs beside the network thread: a document may be large, and a program runs for seconds.
    @concurrent
    static func read(
        _ body: consuming PageBody, with source: Source, _ transformer: (any BodyTransformer)?,
        _ redactor: SecretRedactor?
    ) async -> Result<Page, ReadError> {
        do throws(ReadError) {
            if let program = source.kind.jqProgram {
                guard let transformer else { throw ReadError(.configuration, "no program shapes documents here") }
                body.bytes = try await transformer.transform(body.bytes, with: program)
            }
            var page = try source.kind.read(&body)
            try source.filterTexts(of: &page)
            redactor?.redact(&page)
            page.boundKeys()
            // An item that is the whole document.
            if page.items.count == 1, page.items[0].key.isEmpty {
                (page.items[0].key, page.doubt) = (source.name, .keyless)
            }
            return .success(page)
        } catch {
            return .failure(ReadError(error.failure, redactor?.redacted(error.detail) ?? error.detail))
        }
    }
}
