// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The page: its routes, and what it reads. It serves HTML; other routes can be added.
public struct StatusPage: Sendable {
    /// What the page reads.
    public struct Sources: Sendable {
        /// The journal that the watcher writes.
        public var journal: any JournalAccess
        /// Returns the configuration in force.
        public var configuration: @Sendable () async -> ConfigurationFacts
        /// Reads the facts of now.
        public var status: @Sendable (ConfigurationFacts) async throws(JournalError) -> StatusFacts
        /// What the watcher knows of its polls.
        public var polls: PollFigures
        /// The words of the page.
        public var text: PageText
        /// The clock of the program.
        public var clock: any Clock

        /// Creates what a page reads.
        public init(
            journal: any JournalAccess, configuration: @escaping @Sendable () async -> ConfigurationFacts,
            status: @escaping @Sendable (ConfigurationFacts) async throws(JournalError) -> StatusFacts,
            polls: PollFigures, text: PageText, clock: any Clock
        ) {
            (self.journal, self.configuration, self.status) = (journal, configuration, status)
            (self.polls, self.text, self.clock) = (polls, text, clock)
        }
    }

    let sources: Sources
    let facts: RecentFacts
    let hub: ChangeHub
    private let access: @Sendable () async -> PageAccess
    let formToken: String
    let trials: TrialService
    let links: (any ActionLinkStore)?
    private let cookie: SessionCookie
    private let others: [Route]

    /// Whether clients must show a token.
    var hasToken: Bool { get async { await access().token != nil } }

    /// - Parameters:
    ///   - hub: tells of changes of the journal; shared by all streams.
    ///   - access: who may use the page now.
    ///   - sign: returns the HMAC-SHA256 of a message, for cookies.
    ///   - trials: tries what is not configured yet.
    ///   - links: verifies the links of messages; nil for none.
    ///   - routes: served beside the page's own.
    public init(
        _ sources: Sources, hub: ChangeHub, access: @escaping @Sendable () async -> PageAccess,
        sign: @escaping @Sendable (_ message: [UInt8], _ key: [UInt8]) -> [UInt8]?, trials: TrialService,
        links: (any ActionLinkStore)? = nil, routes: [Route] = []
    ) {
        (self.sources, self.hub, self.access, self.trials, others) = (sources, hub, access, trials, routes)
        cookie = SessionCookie(sign: sign)
        self.links = links
        facts = RecentFacts(sources)
        formToken = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    }

    /// Makes the response to a request.
    public func respond(to request: PageRequest) async -> PageResponse {
        let router = Router(routes + linkRoutes + others)
        let guardian = await guardian()
        var response: PageResponse
        switch router.match(request) {
        case .found(let route, let request):
            do throws(RequestGuard.Refusal) {
                try guardian.check(request, route)
                response = await route.handler(request)
                if case .stream(let stream) = response.body, !route.isOpen {
                    response.body = .stream(GuardedStream(stream) { await self.guardian().hasToken(request) })
                }
            } catch {
                response = refusal(
                    error, of: request, next: route.otherSites == .links ? PageReturn.afterLink(request) : nil)
            }
        case .other(let plain):
            do throws(RequestGuard.Refusal) {
                // No route, so nothing changes: a form gets 404 or 405, whoever sent it.
                try guardian.checkClient(request, isOpen: false)
                response = plain
            } catch {
                response = refusal(error, of: request)
            }
        }
        SecurityHeaders.add(to: &response)
        return response
    }

    private func guardian() async -> RequestGuard {
        RequestGuard(
            access: await access(), formToken: formToken, cookie: cookie, now: sources.clock.now().wall)
    }

    /// - Parameter next: the path that a browser opens at once where the token is missing; nil for none.
    private func refusal(
        _ refusal: RequestGuard.Refusal, of request: PageRequest, next: String? = nil
    ) -> PageResponse {
        let challenges = refusal.status == 401 ? RequestGuard.challenges(request) : []
        guard request.acceptsHTML else {
            return .refusal(refusal.status, refusal.text, headers: challenges)
        }
        guard refusal.status == 401 else {
            return .html(Layout.message("Not allowed", "<p>\(refusal.text)</p>"), status: refusal.status)
        }
        let form = Layout.login(back: request.method == .post ? "/" : PageReturn.path(of: request))
        return .html(Layout.message("Vedette", form, next: next), status: 401, headers: challenges)
    }

    private var routes: [Route] {
        [
            Route(.get, "/") { request in
                await view(.overview, request) { render, facts throws(JournalError) in
                    try await overview(request, render, facts)
                }
            },
            Route(.get, "/events") { request in
                await view(.events, request) { render, _ throws(JournalError) in try await events(request, render) }
            },
            Route(.get, "/events/{event}") { request in
                await view(.events, request) { render, facts throws(JournalError) in
                    try await event(request, render, facts)
                }
            },
            Route(.get, "/sources/{source}") { request in
                await view(nil, request) { render, facts throws(JournalError) in
                    try await source(request, render, facts)
                }
            },
            Route(.get, "/sources/{source}/item") { request in
                await view(nil, request) { render, facts throws(JournalError) in try await item(request, render, facts)
                }
            },
            Route(.get, "/rules") { request in
                await view(.rules, request) { render, facts throws(JournalError) in
                    try await rules(request, render, facts)
                }
            },
            Route(.get, "/silences") { request in
                await view(.silences, request) { render, _ throws(JournalError) in try await silences(render) }
            },
            Route(.get, "/outbox") { request in
                await view(.outbox, request) { render, _ throws(JournalError) in try await outbox(request, render) }
            },
            Route(.get, "/try") { _ in await trialForms() },
            trialRoute,
            Route(.get, "/live") { [hub, clock = sources.clock] _ in
                PageResponse(contentType: "text/event-stream", body: .stream(ChangeStream(hub, clock: clock)))
            },
            Route(.post, "/do/{action}") { await act($0) },
            Route(.post, "/login", isOpen: true) { await login($0) },
            Route(.get, "/style.css", isOpen: true) { _ in Assets.response(Assets.style, "text/css; charset=utf-8") },
            Route(.get, "/script.js", isOpen: true) { _ in
                Assets.response(Assets.script, "text/javascript; charset=utf-8")
            },
            Route(.get, "/icon.svg", isOpen: true) { _ in Assets.response(Assets.icon, "image/svg+xml") },
        ]
    }

    private var trialRoute: Route {
        var route = Route(.post, "/try") { await tried($0) }
        route.requiresToken = true
        return route
    }

    /// What a view found: its title and content, or nothing.
    typealias Found = (title: String, content: HTML)?

    private func view(
        _ section: Layout.Section?, _ request: PageRequest,
        _ make: (Render, ConfigurationFacts) async throws(JournalError) -> Found
    ) async -> PageResponse {
        let render = Render(
            now: sources.clock.now().wall, text: sources.text, formToken: formToken, back: PageReturn.path(of: request))
        let isWatched = await sources.journal.watcher() != nil
        do throws(JournalError) {
            guard let found = try await make(render, await sources.configuration()) else {
                return .html(
                    Layout(title: "Not found", section: section, isWatched: isWatched, now: render.now).page(
                        "<h1>Not found</h1><p>What this address showed is gone, or never was.</p>"), status: 404)
            }
            let notice = request.query["notice"].flatMap(PageNotice.init)
            let layout = Layout(
                title: found.title, section: section, notice: notice, isWatched: isWatched, now: render.now)
            return .html(layout.page(found.content))
        } catch {
            let detail: HTML =
                error.reason == .missing
                ? "<p>There is no journal yet: the watcher has not stored anything.</p>"
                : "<p>The journal could not be read: \(error.detail)</p>"
            return .html(
                Layout(title: "Vedette", section: section, now: render.now).page("<h1>Nothing to show</h1>\(detail)"),
                status: 503)
        }
    }

    /// Stores a cookie that stands for the token when that is right.
    private func login(_ request: PageRequest) async -> PageResponse {
        let shown = request.form["token"]?.trimmed() ?? ""
        let back = PageReturn.path(request.form["back"])
        let access = await access()
        guard let token = access.token else { return .redirect(to: back) }
        guard access.isToken(shown) else {
            let form = Layout.login(back: back)
            return .html(
                Layout.message("Vedette", "<p class=\"bad\" role=\"alert\">This is not the token.</p>\(form)"),
                status: 401, headers: RequestGuard.challenges(request))
        }
        let isSecure = request.header("Origin")?.hasPrefix("https:") == true
        let header = cookie.header(for: token, at: sources.clock.now().wall, isSecure: isSecure)
        return .redirect(to: back, headers: header.map { [$0] } ?? [])
    }
}

extension PageResponse {
    static func html(_ html: HTML, status: Int = 200, headers: [HeaderField] = []) -> PageResponse {
        .text(html.text, status: status, contentType: "text/html; charset=utf-8", headers: headers)
    }
}

extension PageRequest {
    /// The number of the page of a list that is asked for, from 1.
    var page: Int { max(1, min(1_000_000, query["page"].flatMap { Int($0) } ?? 1)) }
}
