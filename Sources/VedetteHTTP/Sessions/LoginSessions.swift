// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Sessions that begin with a login form. One login serves all requests of a session; it is made again when the server asks for it:
/// by 401 or 403, by a redirect to the form, or by a page with a login where something else was asked for.
final class LoginSessions {
    /// Identifies a session: its cookies, and the form.
    private struct Key: Hashable {
        var session: String
        var url: String
    }

    /// What is known of a session.
    private struct State {
        /// The login that is under way.
        var task: Task<FetchError?, Never>?
        /// How many logins there were.
        var count = 0
        var refusals = LoginRefusals()
    }

    private let cookies: SessionCookies
    private let pages: (any LoginPageReader)?
    private var states: [Key: State] = [:]
    /// Those that a server asked for.
    private var pauses = LoginPauses<Key>()

    init(_ cookies: SessionCookies, _ pages: (any LoginPageReader)?) { (self.cookies, self.pages) = (cookies, pages) }

    /// Sends a request in its session, and once more after a login when the server asks for one.
    func fetch(
        _ request: Request, after login: LoginForm, by client: isolated HTTPClient
    ) async throws(FetchError) -> Response {
        guard let session = request.session, request.cookies != .none, let form = WebURL(login.url),
            WebURL(request.url)?.origin == form.origin
        else { return try await client.authenticated(request) }
        let key = Key(session: session, url: login.url)
        if states[key] == nil, cookies.isEmpty(session) { try await logIn(key, login, request, by: client) }
        let count = states[key]?.count
        let response = try await client.authenticated(request)
        guard await asksForLogin(response, request, form) else {
            states[key]?.refusals.noteAnswer(of: request.url)
            return response
        }
        // Another request of the session may have logged in meanwhile.
        if count == states[key]?.count {
            let now = KernelClock.monotonic.milliseconds
            let isForbidden = states[key]?.refusals.forbidsLogin(for: request.url, login.digest, now: now) ?? false
            guard !isForbidden else { return try Self.refused(response, form) }
            try await logIn(key, login, request, by: client)
        }
        let again = try await client.authenticated(request)
        guard await asksForLogin(again, request, form) else {
            states[key]?.refusals.noteAnswer(of: request.url)
            return again
        }
        states[key]?.refusals.noteRefusal(of: request.url, login.digest, now: KernelClock.monotonic.milliseconds)
        return try Self.refused(again, form)
    }

    /// Returns a 401 or 403 as it is; throws for a page in place of the response.
    private static func refused(_ response: Response, _ form: WebURL) throws(FetchError) -> Response {
        guard response.status != 401, response.status != 403 else { return response }
        throw FetchError(
            .unauthorized,
            "\(form.origin) asks for a login again right after one; check the fields of 'session'")
    }

    private func logIn(
        _ key: Key, _ login: LoginForm, _ request: Request, by client: isolated HTTPClient
    ) async throws(FetchError) {
        let now = KernelClock.monotonic.milliseconds
        guard states[key]?.refusals.forbidsLogin(login.digest, now: now) != true else {
            throw FetchError(.unauthorized, "the login was refused; it is tried again five minutes after that")
        }
        try pauses.check(key, now: now)
        let task = states[key]?.task ?? Task { await postForm(key, login, request, by: client) }
        states[key, default: State()].task = task
        if let error = await task.value { throw error }
    }

    private func postForm(
        _ key: Key, _ login: LoginForm, _ request: Request, by client: isolated HTTPClient
    ) async -> FetchError? {
        let sent = login.digest
        var failure: FetchError?
        do throws(FetchError) {
            let response = try await client.authenticated(try await formRequest(login, request, by: client))
            if response.status >= 400 {
                var error = FetchError(
                    Failure(login: response.status),
                    "the login was answered by \(response.status); check 'login' and the fields of 'session'")
                error.retryAfter = response.retryAfter
                pauses.begin(key, after: error, now: KernelClock.monotonic.milliseconds)
                failure = error
            }
        } catch {
            failure = error
        }
        var state = states[key] ?? State()
        (state.task, state.count) = (nil, state.count + 1)
        let isRefused = failure?.failure == .unauthorized
        state.refusals.loginEnded(isRefused: isRefused, sent, now: KernelClock.monotonic.milliseconds)
        // Without a login the next request begins with one.
        states[key] = failure == nil || isRefused ? state : nil
        return failure
    }

    /// Builds the request that sends the form, with what the form's page fills in itself.
    private func formRequest(
        _ login: LoginForm, _ request: Request, by client: isolated HTTPClient
    ) async throws(FetchError) -> Request {
        var form = request
        (form.method, form.url, form.body, form.redirects) = ("GET", login.url, nil, 5)
        (form.validators, form.knownDigest, form.inspectsConnection) = (Validators(), nil, false)
        form.headers.removeAll { ["content-type", "accept"].contains($0.name.lowercased()) }
        form.headers.append(Header("Accept", "text/html, */*;q=0.5"))
        let origin = WebURL(login.url)?.origin ?? ""
        var hidden: [LoginPage.HiddenField] = []
        if let pages {
            let page = try await client.authenticated(form)
            if let found = await Self.loginPage(in: page, pages) {
                guard WebURL(page.url)?.origin == origin, WebURL(found.action)?.origin == origin else {
                    throw FetchError(.redirect, "the login form leads to another origin, which gets no password")
                }
                (form.url, hidden) = (found.action, found.hidden)
            }
        }
        let own = Set(login.fields.map(\.name))
        let pairs =
            hidden.filter { !own.contains($0.name) }.map { ($0.name, $0.value) }
            + login.fields.map { ($0.name, $0.value) }
        let body = pairs.map { "\(WebURL.encoded($0.0))=\(WebURL.encoded($0.1))" }.joined(separator: "&")
        (form.method, form.body, form.redirects) = ("POST", Array(body.utf8), 0)
        form.headers.append(Header("Content-Type", "application/x-www-form-urlencoded"))
        // Servers compare both with their own address before they take a form.
        form.headers += [Header("Referer", login.url), Header("Origin", origin)]
        return form
    }

    private func asksForLogin(_ response: Response, _ request: Request, _ form: WebURL) async -> Bool {
        guard let url = WebURL(response.url), url.origin == form.origin else { return false }
        if response.status == 401 || response.status == 403 { return true }
        let isRedirect = (300...399).contains(response.status)
        let target = isRedirect ? response.headers["Location"].flatMap { url.resolving($0) } : url
        if let target, target.place == form.place, WebURL(request.url)?.place != form.place { return true }
        guard response.status == 200, response.headers.mediaType == "text/html" else { return false }
        let accept = request.headers.first { $0.name.lowercased() == "accept" }?.value ?? "*/*"
        if !accept.contains("html"), accept.contains("json") || accept.contains("xml") { return true }
        guard let pages else { return false }
        return await Self.loginPage(in: response, pages) != nil
    }

    /// Beside the network thread, since a page may be large.
    @concurrent
    private static func loginPage(in response: Response, _ reader: any LoginPageReader) async -> LoginPage? {
        reader.loginPage(in: response)
    }
}

extension WebURL {
    /// The address without its query.
    fileprivate var place: Substring { text.prefix { $0 != "?" && $0 != "#" } }
}

extension LoginForm {
    /// Tells whether the same was sent before. It is stored nowhere.
    fileprivate var digest: UInt64 {
        var digest = StableHash()
        for field in fields { digest.add(field.value) }
        return digest.value
    }
}
