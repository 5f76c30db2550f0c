// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Kinds that observe the response itself: a refusal or a 500 is a state of their item, not a failed poll.
extension PollReader {
    func observed(_ result: Result<Response, FetchError>, _ request: Request) -> FetchResult {
        if case .failure(let error) = result, error.failure.isOwn { return .ended(PollResult(error)) }
        return .observed(result, movedTo: (try? result.get()).flatMap { movedTo($0, from: request) })
    }

    func readObserved(
        _ result: Result<Response, FetchError>, _ movedTo: String?
    ) async throws(JournalError) -> ReadResult {
        guard let kind = source.kind as? any ObservingKind else { return .ended(PollResult(.cancelled)) }
        let page: Page
        switch await self.page(of: result, with: kind) {
        case .failure(let error): return .ended(PollResult(error))
        case .success(let read): page = read
        }
        let stored = snapshot?.identity == source.identity ? try await storedItems() : [:]
        let (retryAfter, unanswered) = notes(of: result)
        if kind.isUnconfirmed(page.items, stored: stored, polls: failures + 1, fails: source.fails),
            !isPutOff(retryAfter)
        {
            let detail = "\(failures + 1) of \(source.fails) polls found it down"
            var end = PollResult(.unconfirmed(detail))
            end.warnings = page.warnings
            (end.retryAfter, end.unanswered) = (retryAfter, unanswered)
            return .ended(end)
        }
        var items = ReadItems(
            observation: Observation(items: kind.keepingMeasures(page.items, stored: stored), mode: .list),
            stored: stored)
        (items.warnings, items.movedTo) = (page.warnings, movedTo)
        (items.retryAfter, items.unanswered) = (retryAfter, unanswered)
        return .items(items)
    }

    /// Whether the polls that would confirm a state come too late.
    private func isPutOff(_ retryAfter: Duration?) -> Bool {
        let now = clock.now().wall
        return source.interval.isPutOff(
            retryAfter, beyondFailures: source.fails, since: doubtedSince ?? now, at: now)
    }

    private func notes(of result: Result<Response, FetchError>) -> (retryAfter: Duration?, unanswered: FetchError?) {
        switch result {
        case .success(let response): (response.retryAfter(at: clock.now().wall), nil)
        case .failure(let error): (error.retryAfter, error)
        }
    }

    /// Runs beside the network thread: it may hash a large body.
    @concurrent
    private func page(of result: Result<Response, FetchError>, with kind: any ObservingKind) async -> Result<
        Page, ReadError
    > {
        let (observed, redactor): (Observed, SecretRedactor?) =
            switch result {
            case .success(let response): (.response(response), source.server.redactor(for: response))
            case .failure(let error): (.failed(error), source.server.redactor)
            }
        var page = kind.observe(observed, ObservationContext(url: source.url, now: clock.now().wall))
        do throws(ReadError) { try source.filterTexts(of: &page) } catch { return .failure(error) }
        redactor?.redact(&page)
        page.boundKeys()
        return .success(page)
    }
}
