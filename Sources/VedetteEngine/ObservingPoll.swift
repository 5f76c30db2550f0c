// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Kinds that observe the response itself: whatever came of the request is an item.
extension PollReader {
    func observe(_ ask: RequestTemplate, with kind: any ObservingKind) async throws(JournalError) -> PollResult {
        let fetched = await fetched(requestBuilder.first(ask))
        let seen: Observed
        switch fetched {
        case .success(let response): seen = .response(response)
        // Our own fault, or nobody's, is no state of the server's.
        case .failure(let error) where error.failure == .cancelled || error.failure == .configuration:
            return PollResult(error)
        case .failure(let error): seen = .failed(error)
        }
        let page = await observed(seen, with: kind)
        let stored = head?.identity == source.identity ? try await storedItems() : [:]
        var result: PollResult
        if kind.isDoubtful(page.items, stored: stored, polls: failures + 1, fails: source.fails) {
            result = PollResult(.doubtful("\(failures + 1) of \(source.fails) polls found it down"))
        } else {
            let items = kind.keepingMeasures(page.items, stored: stored)
            result = PollResult(.read(await compare(Observation(items: items, mode: .list), stored: stored)))
        }
        result.warnings = page.warnings
        switch fetched {
        case .success(let response): result.retryAfter = response.headers.retryAfter(at: clock.now().wall)
        case .failure(let error): result.silence = error
        }
        return result
    }

    /// Off the loop: it may hash a large body.
    @concurrent
    private func observed(_ seen: Observed, with kind: any ObservingKind) async -> Page {
        var page = kind.observe(seen, ObservationContext(url: source.url, now: clock.now().wall))
        source.server.redactor?.redact(&page)
        return page
    }
}
