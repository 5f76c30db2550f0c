// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Posts each event to a URL: as the CloudEvents object that other outputs show, or with the user's own body.
public enum WebhookKind {
    public static let entry = SinkKindEntry(
        name: "webhook", summary: "Sends each event to a URL, as a CloudEvents JSON object or a body of your own.",
        options: [
            OptionSpec(
                "url", .textOrSecret, "Where to send it: http or https; `{env: NAME}` where the address holds a token.",
                required: true),
            OptionSpec("path", .template, "What follows the url, from its `/` or `?`; values are percent-encoded."),
            OptionSpec("method", .text, "The request method.", default: "POST"),
            OptionSpec("headers", .headers, "Further request headers."),
            OptionSpec("user", .text, "For basic authentication, with `password`."),
            OptionSpec("password", .secret, "For basic authentication, with `user`."),
            OptionSpec("token", .secret, "For bearer authentication."),
            OptionSpec(
                "sign", .oneOrMany(.secret),
                "Keys of Standard Webhooks, `whsec_` and base64; several while one is replaced."),
            OptionSpec(
                "mode", .choice(WebhookBody.Mode.allCases.map(\.rawValue)),
                "The form of the event: one object, the data with the rest in headers, or an array of one.",
                default: "structured"),
            OptionSpec(
                "body", .body, "Sent instead of the event: a text, or a map or list as JSON; texts are templates."),
            OptionSpec(
                "format", .choice(Format.allCases.map(\.rawValue)),
                "How the values in `body` are escaped, and its content type.", default: "json"),
            .tls, .timeout,
        ],
        showsTexts: false, isEventSink: true,
        make: { options throws(OptionProblem) in
            let settings = try WebhookSettings(options)
            return { name, services in WebhookSink(name: name, settings: settings, services: services) }
        })
}

struct WebhookSink: Sink {
    let name: String
    let settings: WebhookSettings
    let services: SinkServices

    func deliver(_ message: Message) async -> Outcome {
        let refresh = SecretRefresh(of: settings.secrets, services.clock)
        let request: Request
        do throws(MessageError) {
            request = try self.request(for: message)
        } catch {
            return error.outcome
        }
        do throws(FetchError) {
            let response = try await services.fetcher.fetch(request)
            let outcome = ReceiverOutcome.of(
                status: response.status, retryAfter: response.headers.retryAfter(at: services.clock.now().wall))
            return await refresh.outcome(outcome)
        } catch {
            return ReceiverOutcome.of(error)
        }
    }

    func request(for message: Message) throws(MessageError) -> Request {
        let url = try url(for: message)
        let content = try settings.body.content(message)
        let time = services.clock.now().wall.milliseconds / 1000
        var headers = [Header("webhook-id", message.id), Header("webhook-timestamp", String(time))]
        if let signature = settings.signature {
            headers.append(try signature.header(id: message.id, time: time, body: content.bytes))
        }
        if let token = settings.token { headers.append(Header("Authorization", Secret("Bearer " + token.value))) }
        let own = Set(settings.headers.map { $0.name.lowercased() })
        if !own.contains("content-type") { headers.append(Header("Content-Type", content.type)) }
        if !own.contains("user-agent") { headers.append(Header("User-Agent", services.userAgent)) }
        headers += content.headers + settings.headers
        // A secret may have been read again since the options were validated.
        if let header = headers.first(where: { !HTTPSyntax.isFieldValue($0.value) }) {
            throw MessageError(sink: "header \(header.name) has a line break in its value")
        }
        return Request(
            method: settings.method, url: url, headers: headers, body: content.bytes,
            credentials: settings.credentials, tls: settings.tls, lane: .deliveries, group: name,
            limits: .delivery(within: settings.timeout), redirects: 0)
    }

    private static func hasGap(_ path: String) -> Bool {
        let path = path.prefix { $0 != "?" }
        return path.contains("//") || path.hasSuffix("/")
    }

    private func url(for message: Message) throws(MessageError) -> String {
        let base = settings.url.value
        if let problem = ReceiverURL.problem(base) { throw MessageError(sink: "url \(problem)") }
        guard let template = settings.path else { return base }
        let context = message.templateContext
        let path = template.render(context.escaped(WebURL.encoded))
        // A value cannot hold a slash, but it can be a whole segment.
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        guard path.hasPrefix("/") || path.hasPrefix("?"), !segments.contains("."), !segments.contains("..") else {
            throw MessageError(message: "the path does not begin with / or ?, or has a segment that is . or ..")
        }
        // `/systems/{{item.system}}` without a system would be all systems.
        if WebhookSink.hasGap(path), !WebhookSink.hasGap(template.render(TemplateContext { _ in .text("x") })) {
            throw MessageError(message: "the path has an empty segment, since this event lacks its value")
        }
        let url = (base.hasSuffix("/") && path.hasPrefix("/") ? String(base.dropLast()) : base) + path
        if let problem = ReceiverURL.problem(url) {
            throw MessageError(message: "the url with its path \(problem)")
        }
        return url
    }
}
