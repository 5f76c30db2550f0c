// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Posts each event, as the CloudEvents object that every other output shows, to a URL.
public enum WebhookKind {
    public static let entry = SinkKindEntry(
        name: "webhook", summary: "Sends each event to a URL as a CloudEvents JSON object.",
        options: [
            OptionSpec(
                "url", .textOrSecret, "Where to send it: http or https; `{env: NAME}` where the address holds a token.",
                required: true),
            OptionSpec("method", .text, "The request method.", standard: "POST"),
            OptionSpec("headers", .headers, "Further request headers."),
            OptionSpec("user", .text, "For basic authentication, with `password`."),
            OptionSpec("password", .secret, "For basic authentication, with `user`."),
            OptionSpec("timeout", .duration, "How long one attempt may take.", standard: "20s"),
        ],
        showsTexts: false,
        make: { options throws(OptionProblem) in
            let settings = try WebhookSettings(options)
            return { name, services in WebhookSink(name: name, settings: settings, services: services) }
        })
}

/// The options of a webhook, judged.
struct WebhookSettings: Sendable {
    var url: Secret
    var method: String
    var headers: [Header]
    var credentials: Credentials?
    var timeout: Duration

    /// Headers that the sink or the transfer sets, in lower case.
    static let reserved: Set = [
        "webhook-id", "webhook-timestamp", "content-length", "transfer-encoding", "host", "connection",
    ]

    init(_ options: Options) throws(OptionProblem) {
        url = options.secret("url") ?? Secret(options.text("url") ?? "")
        method = options.text("method") ?? "POST"
        headers = options.headers("headers")
        timeout = options.duration("timeout") ?? .seconds(20)
        if let problem = HTTPSyntax.problem(inURL: url.value) { throw OptionProblem("url", detail: problem) }
        if !HTTPSyntax.isToken(method) || ["CONNECT", "TRACE"].contains(method.uppercased()) {
            throw OptionProblem("method", detail: "is no method that carries a body; write POST, PUT or PATCH")
        }
        if timeout < .milliseconds(1) { throw OptionProblem("timeout", detail: "must be longer than nothing") }
        for header in headers { try Self.check(header) }
        credentials = try Self.credentials(options)
    }

    private static func check(_ header: Header) throws(OptionProblem) {
        if !HTTPSyntax.isToken(header.name) {
            throw OptionProblem("headers", header.name, detail: "is no header name; use letters, digits and `-`")
        }
        if reserved.contains(header.name.lowercased()) {
            throw OptionProblem("headers", header.name, detail: "is set by the sink itself; leave it out")
        }
        if !HTTPSyntax.isFieldValue(header.value) {
            throw OptionProblem("headers", header.name, detail: "has a control character or line break in its value")
        }
    }

    private static func credentials(_ options: Options) throws(OptionProblem) -> Credentials? {
        switch (options.text("user"), options.secret("password")) {
        case (let user?, let password?): return Credentials(user: user, password: password)
        case (nil, nil): return nil
        case (_?, nil): throw OptionProblem("user", detail: "needs `password` beside it")
        case (nil, _?): throw OptionProblem("password", detail: "needs `user` beside it")
        }
    }
}

struct WebhookSink: Sink {
    let name: String
    let settings: WebhookSettings
    let services: SinkServices

    /// Replies are of no interest beyond their status.
    static let replyLimit = 64 << 10

    func deliver(_ message: Message) async -> Outcome {
        // A secret may have been read anew since the options were judged.
        if let problem = HTTPSyntax.problem(inURL: settings.url.value) {
            return .paused(reason: "the sink's url \(problem)")
        }
        if let header = settings.headers.first(where: { !HTTPSyntax.isFieldValue($0.value) }) {
            return .paused(reason: "the sink's header \(header.name) has a line break in its value")
        }
        do throws(FetchError) {
            let response = try await services.fetcher.fetch(request(for: message))
            return WebhookOutcome.of(
                status: response.status, retryAfter: response.headers.retryAfter(at: services.clock.now().wall))
        } catch {
            return WebhookOutcome.of(error)
        }
    }

    func request(for message: Message) -> Request {
        var headers = [
            Header("webhook-id", message.id),
            Header("webhook-timestamp", String(services.clock.now().wall.milliseconds / 1000)),
        ]
        let own = Set(settings.headers.map { $0.name.lowercased() })
        if !own.contains("content-type") {
            headers.append(Header("Content-Type", "application/cloudevents+json; charset=utf-8"))
        }
        if !own.contains("user-agent") { headers.append(Header("User-Agent", services.userAgent)) }
        return Request(
            method: settings.method, url: settings.url.value, headers: headers + settings.headers,
            body: message.event.json.bytes, credentials: settings.credentials, lane: .deliveries, group: name,
            limits: limits, redirects: 0)
    }

    private var limits: FetchLimits {
        var limits = FetchLimits()
        (limits.received, limits.inflated) = (WebhookSink.replyLimit, WebhookSink.replyLimit)
        (limits.total, limits.firstByte) = (settings.timeout, settings.timeout)
        limits.connect = min(limits.connect, settings.timeout)
        return limits
    }
}
