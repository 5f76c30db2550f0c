// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteEngine
import VedetteSources

/// The address that is probed, with its settings.
struct ProbeTarget {
    struct Answer {
        /// Without a body for a stream.
        var page: PageBody
        var response: Response
        /// What the server pushed at first, and how it was told apart; nil for a complete response.
        var stream: (records: [StreamRecord], settings: StreamSettings)?
    }

    /// What bounds the requests.
    struct Bounds {
        /// The time for a whole response.
        var total = Duration.seconds(60)
        /// Bytes of a body as received, and decoded; nil for the limits of polls.
        var body: (received: Int, decoded: Int)?
        /// The addresses that they may lead to; nil for those of the server.
        var reach: Request.Reach?
        /// Whether they go through no proxy, which would resolve names itself.
        var isDirect = false
        /// Whether errors name the options of `probe`.
        var namesOptions = true
        /// Whether the command is another one, which has no such options.
        var isOfOther = false

        func apply(to request: inout Request) {
            request.limits.total = total
            if let body { (request.limits.received, request.limits.inflated) = body }
            if let reach { request.reach = reach }
            if isDirect { request.proxy = .none }
        }
    }

    /// The time for the first records of a stream, and how many are enough.
    private static let streamTime = Duration.seconds(3)
    private static let enoughRecords = 100

    let url: String
    private let server: Server?
    private let kind: String?
    private let userAgent: String?
    private let ask: ProbeRequest
    private let bounds: Bounds

    init(
        _ text: String, server: Server? = nil, kind: String? = nil, userAgent: String? = nil,
        ask: ProbeRequest = ProbeRequest(), bounds: Bounds = Bounds()
    ) throws {
        (self.server, self.kind, self.userAgent, self.ask, self.bounds) = (server, kind, userAgent, ask, bounds)
        if let server, let base = server.url.flatMap(WebURL.init) {
            guard let found = base.resolving(text), found.origin == base.origin else {
                throw Exit(.usage, "'\(text)' is not on the server '\(server.name)', which is \(base.origin)")
            }
            url = found.text
        } else if WebURL(text) != nil || text.hasPrefix("file:///") {
            url = text
        } else {
            throw Exit(
                .usage, "this is not an address; write it whole, as https://host/path, and without a password in it")
        }
    }

    private init(_ url: String, like other: ProbeTarget) {
        (self.url, server, kind, userAgent, bounds) = (url, other.server, nil, other.userAgent, other.bounds)
        ask = ProbeRequest()
    }

    /// The address without its query, which may contain a secret.
    var shown: String { String(url.prefix { $0 != "?" }) }

    /// Whether the address is on the web, so that another request may have another response.
    var isOnTheWeb: Bool { WebURL(url) != nil }

    /// Returns the target of a redirect; nil for an address outside the server whose settings are used.
    func moved(to address: String) -> ProbeTarget? {
        guard let next = WebURL(address), server == nil || next.origin == WebURL(url)?.origin else { return nil }
        return ProbeTarget(address, like: self)
    }

    /// Returns the address of a response to which redirects led, without what may be a credential; nil for the one that was
    /// asked. A kind may ask below the address that is named.
    func redirected(to response: Response) -> String? {
        let asked = request.url
        func page(_ url: String) -> Substring { url.prefix { $0 != "?" && $0 != "#" } }
        guard page(response.url) != page(asked), WebURL(response.url) != WebURL(asked) else { return nil }
        return MovedAddress.text(response.url, asked: asked, configured: url)
    }

    /// Returns the address as options of the source. A permanent redirect replaces it, unless it leaves the server.
    func place(movedTo: String?) -> [(key: String, value: String)] {
        guard let server else { return [("url", movedTo ?? url)] }
        let place = WebURL(url)
        let path = place.map { $0.path.isEmpty ? "/" : $0.path } ?? "/"
        return [("server", server.name), ("path", path + (place?.query.map { "?\($0)" } ?? ""))]
    }

    private static let accept = """
        application/json, application/feed+json, application/atom+xml, application/rss+xml, application/xml;q=0.9, \
        text/xml;q=0.9, text/html;q=0.8, */*;q=0.5
        """

    /// The request of the kind that is named; otherwise the server may choose the format.
    private var template: RequestTemplate {
        let entry = kind.flatMap { kind in KindRegistry.sourceKinds.first { $0.name == kind } }
        let made = entry.flatMap { try? $0.make(Options()) }
        var template =
            made?.request(base: url, context: PollContext(now: SystemClock().now().wall))
            ?? RequestTemplate(url: url, headers: [Header("Accept", ProbeTarget.accept)])
        ask.apply(to: &template)
        return template
    }

    private var request: Request {
        var server = server ?? Server(name: "")
        if let userAgent { server.userAgent = userAgent }
        var request = Request(template, of: server, session: "probe", userAgent: UserAgent.standard)
        bounds.apply(to: &request)
        return request
    }

    func fetch(_ fetcher: some Fetcher) async throws -> Answer {
        var settings = StreamSettings()
        var result = await response(fetcher, readsStreams ? settings : nil)
        if readsStreams, case .failure(let error) = result, error.failure == .timeout {
            // It does not end, and its media type does not tell that it is a stream.
            settings.format = .lines
            let again = await response(fetcher, settings)
            if case .success = again { result = again }
        }
        let response: Response
        do throws(FetchError) {
            response = try result.get()
        } catch {
            if error.failure == .privateAddress, !bounds.namesOptions {
                throw Exit(
                    .unavailable,
                    "this is a private address, or leads to one; only those are tried whose host and port a source has")
            }
            // Without a handshake there is no certificate.
            let hint =
                error.failure.rawValue.hasPrefix("tls-") && ![.tlsPin, .tlsHandshake].contains(error.failure)
                ? "; `vedette trust \(server?.name ?? url)` shows its certificate" : ""
            throw Exit(.unavailable, "\(error.failure.rawValue): \(error.detail)\(hint)")
        }
        var stream: (records: [StreamRecord], settings: StreamSettings)?
        if let records = response.records {
            stream = (await firstRecords(of: records), settings)
        } else {
            try check(response)
        }
        let page = PageBody(
            bytes: response.body, headers: response.headers, url: response.url, receivedAt: SystemClock().now().wall)
        return Answer(page: page, response: response, stream: stream)
    }

    /// Whether the kind, if one is named, reads streams.
    private var readsStreams: Bool {
        guard let kind else { return isOnTheWeb }
        return isOnTheWeb && KindRegistry.sourceKinds.contains { $0.name == kind && $0.streams != .none }
    }

    /// - Parameter settings: how a response is read that is a stream, which has no total time; nil for none.
    private func response(
        _ fetcher: some Fetcher, _ settings: StreamSettings?
    ) async -> Result<Response, FetchError> {
        var request = request
        request.stream = settings
        let fetch = Task { [request] () async -> Result<Response, FetchError> in
            do throws(FetchError) {
                return .success(try await fetcher.fetch(request))
            } catch {
                return .failure(error)
            }
        }
        let timer = ProbeTarget.timer(bounds.total) { fetch.cancel() }
        defer { timer.cancel() }
        let result = await withTaskCancellationHandler {
            await fetch.value
        } onCancel: {
            fetch.cancel()
        }
        guard case .failure(let error) = result, error.failure == .cancelled else { return result }
        return .failure(FetchError(.timeout, "no whole response came within \(bounds.total)", timedOut: true))
    }

    private static func timer(_ time: Duration, _ fire: @escaping @Sendable () -> Void) -> Task<Void, any Error> {
        let clock = SystemClock()
        let end = clock.now().boot.advanced(by: time)
        return Task {
            try await clock.sleep(until: end)
            fire()
        }
    }

    private func firstRecords(of stream: any RecordStream) async -> [StreamRecord] {
        let timer = ProbeTarget.timer(ProbeTarget.streamTime) { stream.interrupt() }
        defer {
            timer.cancel()
            stream.close()
        }
        var records: [StreamRecord] = []
        while records.count < ProbeTarget.enoughRecords, let batch = try? await stream.next(), !batch.isInterrupted {
            records += batch.records
        }
        return records
    }

    private func check(_ response: Response) throws {
        let isGood = (200..<300).contains(response.status) || kind == "http"
        if !isGood {
            let words = refusal(in: response).map { ": \"\($0)\"" } ?? ""
            throw Exit(
                .unavailable, "\(shown) answers \(response.status)\(words)\(ofProbe(hint(response.status)))")
        }
        if response.body.isEmpty, kind != "http" {
            throw Exit(
                .unavailable,
                "\(shown) answers with nothing"
                    + (bounds.namesOptions
                        ? ofProbe(
                            "; if a browser sees more, say --user-agent, or --kind http to watch the answer itself")
                        : ""))
        }
    }

    /// What the server says in the body; nil for nothing.
    private func refusal(in response: Response) -> String? {
        let page = PageBody(bytes: response.body, headers: response.headers, url: response.url)
        let named = kind.flatMap { kind in KindRegistry.sourceKinds.first { $0.name == kind } }
        let text = (try? named?.make(Options())).flatMap { $0 }?.refusal(in: page) ?? ErrorDocument.text(of: page)
        return text.flatMap { ServerWords.shown($0, (server ?? Server(name: "")).redactor(for: response)) }
    }

    /// Adds to a hint whose options it names.
    private func ofProbe(_ hint: String) -> String {
        bounds.isOfOther && hint.contains("--") ? "\(hint) (as options of `vedette probe`)" : hint
    }

    /// Returns what the user may try next.
    private func hint(_ status: Int) -> String {
        guard bounds.namesOptions else {
            return [401, 403].contains(status)
                ? "; a server with its password belongs in the configuration: `vedette probe --server NAME` uses it"
                : ""
        }
        return switch (status, server) {
        case (401, nil): "; write a server with its password into the configuration, and name it with --server"
        case (403, nil):
            "; many servers refuse a User-Agent that they do not know: say --user-agent; others want a server's "
                + "password: name it with --server"
        case (401, let server?), (403, let server?):
            Failure(status: status).flatMap { ReadError.remedy(of: $0, server) }.map { "; \($0)" } ?? ""
        case (404, _), (410, _):
            (WebURL(url).map { $0.path.isEmpty || $0.path == "/" } == true && kind == nil
                ? "; name the page or resource below it, or with --kind what is there: cloudburst and connections know "
                    + "their paths" : "; check the path")
                + (server == nil ? ", or lend a server's password with --server" : "")
                + "; --kind http watches the answer itself"
        default: "; --kind http watches the answer itself"
        }
    }
}
