// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension PollStages {
    /// Sends the first request, with the validators and the digest of the last good response.
    func fetch() async -> FetchedSource {
        let snapshot = comparableSnapshot
        let context = PollContext(newest: snapshot?.newest, now: clock.now().wall)
        let template = source.kind.request(base: source.url, context: context)
        if source.kind is any ObservingKind { return await observe(template) }
        let digest = RequestBuilder.digest(of: template)
        var request = source.stream.map { self.request(streaming: template, $0) } ?? requests.first(template)
        // Validators of another address are not valid for this one.
        if let snapshot, snapshot.asked == digest, let known = snapshot.digest {
            request.knownDigest = known
            // Other methods have no such conditions (RFC 9110 §13.2.1).
            if template.method == "GET" || template.method == "HEAD" { request.validators = snapshot.validators }
        }
        let startedAt = clock.now().boot
        var result = await fetch(conditional: request)
        // The page is as before, but another one follows it now: only the whole response tells its kind which.
        if case .success(let response) = result, response.isUnchanged, hasUnknownNextPage(response) {
            request = requests.first(template)
            result = await fetch(conditional: request)
        }
        switch result {
        case .failure(let error): return .ended(PollResult(error))
        case .success(let response):
            if let records = response.records {
                let redactor = source.server.redactor(for: response)
                return .stream(OpenStream(records, response, isResumed: resume != nil, redactor))
            }
            if response.status == 410, source.stream != nil, resume != nil { return .ended(PollResult(.expired)) }
            if let end = end(of: response, to: request) { return .ended(end) }
            return .response(
                FirstResponse(response: response, template: template, requestDigest: digest, startedAt: startedAt))
        }
    }

    /// Whether a list's first page names a next page in a header. Then neither validators nor digest are kept, so what
    /// they stand for is a page without it.
    func hasUnknownNextPage(_ response: Response) -> Bool {
        source.kind.mode == .list && response.headers.nextLink != nil
    }

    func fetch(_ request: Request) async -> Result<Response, FetchError> {
        do throws(FetchError) {
            return .success(try await fetcher.fetch(request))
        } catch {
            return .failure(source.server.redactor?.redacted(error) ?? error)
        }
    }

    /// A 304 to a request without conditions comes from a confused cache: one more request asks past all caches.
    private func fetch(conditional request: Request) async -> Result<Response, FetchError> {
        let result = await fetch(request)
        guard case .success(let response) = result, response.status == 304, request.validators.isEmpty else {
            return result
        }
        var again = request
        again.knownDigest = nil
        again.headers.removeAll { $0.name.lowercased() == "cache-control" }
        again.headers.append(Header("Cache-Control", "no-cache"))
        return await fetch(again)
    }

    /// The validators that may be stored.
    func validators(of response: Response) -> Validators {
        let validators = response.headers.validators(at: clock.now().wall)
        return source.server.redactor(for: response)?.redacted(validators) ?? validators
    }

    /// The result for which no body needs to be read; nil for a body.
    private func end(of response: Response, to request: Request) -> PollResult? {
        let isExpected = response.status == 304 ? !request.validators.isEmpty : request.knownDigest != nil
        if response.isUnchanged, isExpected {
            return PollResult(.unchanged(validators(of: response)), freshFor: response.headers.freshFor)
        }
        return failure(of: response, method: request.method)
    }

    /// The failure that a response stands for; nil for a body.
    func failure(of response: Response, method: String) -> PollResult? {
        let retryAfter = response.headers.retryAfter(at: clock.now().wall)
        if response.status == 304 {
            let detail = "the server answered 'not modified' to a request that set no condition"
            return PollResult(.failed(.protocol, detail: detail), retryAfter: retryAfter)
        }
        if let failure = Failure(status: response.status, method: method) {
            let detail = PollStages.sentence(status: response.status, failure)
            return PollResult(.failed(failure, detail: detail), retryAfter: retryAfter)
        }
        // A command that prints nothing has succeeded; whether that is a document its kind decides.
        guard response.body.isEmpty, CommandURL.arguments(source.url) == nil else { return nil }
        let detail =
            "the answer was \(response.status) with an empty body; a server may do so for a User-Agent that it does "
            + "not know"
        return PollResult(.failed(.empty, detail: detail), retryAfter: retryAfter)
    }

    static func sentence(status: Int, _ failure: Failure) -> String {
        let remedy =
            switch failure {
            case .incomplete: incompleteness(of: status)
            case .unauthorized: "; check user and password"
            case .forbidden: "; these credentials may not read it"
            case .notFound: "; check the path"
            case .redirect: "; write the new address as the source's url"
            default: ""
            }
        return "the server answered \(status)\(remedy)"
    }

    /// Names what a success without a complete representation is (RFC 9110 §15.3, RFC 4918 §11.1, RFC 3229 §10.4.1).
    private static func incompleteness(of status: Int) -> String {
        let name =
            switch status {
            case 202: "accepted: the answer is not ready yet"
            case 204: "no content"
            case 205: "reset content"
            case 206: "partial content, though no range was asked for"
            case 207: "multi-status, which is complete for PROPFIND and REPORT alone"
            case 226: "IM used: the difference to an earlier answer"
            default: "neither 200 nor 203"
            }
        return " (\(name)); it is not read as a complete list"
    }
}
