// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Observes the response itself: whether it arrives, its status, its latency and the days left of its certificate.
struct HTTPResource: ObservingKind {
    static let entry = SourceKindEntry(
        name: "http", summary: "The response itself: up or down, status, latency, certificate, redirect.",
        options: [
            OptionSpec(
                "expect", .oneOrMany(.text), "Statuses that mean up: `200`, or classes: `2xx`.", default: "2xx, 3xx"),
            OptionSpec("contains", .text, "Text that the body must contain, byte for byte."),
            OptionSpec("lacks", .text, "Text that the body must not contain, byte for byte."),
            OptionSpec("method", .choice(["GET", "HEAD"]), "The method.", default: "GET"),
            OptionSpec("redirects", .integer(0...5), "Redirects that are followed.", default: "0"),
            OptionSpec(
                "body", .choice(["ignore", "compare"]), "`compare` makes a digest of the body a compared field.",
                default: "ignore"),
            OptionSpec("headers", .map(.text), "Response headers that are compared: field to header's name."),
            OptionSpec("title", .text, "The name that messages show.", otherwise: "the address"),
        ], make: { options throws(OptionProblem) in try HTTPResource(options) })

    private let expected: [StatusPattern]
    private let contains: [UInt8]?
    private let lacks: [UInt8]?
    private let method: String
    private let redirects: Int
    private let comparesBody: Bool
    private let headers: [(field: String, header: String)]
    private let title: String?
    let fingerprints: [String: UInt64]

    init(_ options: Options) throws(OptionProblem) {
        let texts = options.texts("expect").isEmpty ? ["2xx", "3xx"] : options.texts("expect")
        var expected: [StatusPattern] = []
        for text in texts {
            guard let pattern = StatusPattern(text) else {
                throw OptionProblem(
                    at: ["expect", text],
                    "'\(text)' is not a status; write three digits such as 204, or a class such as 2xx")
            }
            expected.append(pattern)
        }
        self.expected = expected
        contains = options.text("contains").map { Array($0.utf8) }
        lacks = options.text("lacks").map { Array($0.utf8) }
        method = options.text("method") ?? "GET"
        redirects = options.integer("redirects") ?? 0
        comparesBody = options.text("body") == "compare"
        for option in ["contains", "lacks"] {
            if method == "HEAD", options[option] != nil {
                throw OptionProblem(at: [option], "an answer to HEAD has no body; remove '\(option)' or ask by GET")
            }
            if options.text(option) == "" { throw OptionProblem(at: [option], "'\(option)' is empty") }
        }
        if method == "HEAD", comparesBody {
            throw OptionProblem(at: ["body"], "an answer to HEAD has no body; remove 'body' or ask by GET")
        }
        headers = try HTTPResource.headers(options)
        title = options.text("title")
        if title?.trimmed().isEmpty == true {
            throw OptionProblem(at: ["title"], "'title' is empty; write a name, or remove it")
        }
        let ways = [method, String(redirects)]
        var fingerprints = [
            SnapshotHead.everyField: 1,
            "state": StableHash.of(
                texts + [options.text("contains") ?? "", "\u{0}", options.text("lacks") ?? ""] + ways),
        ]
        for name in ["status", "redirect", "body"] { fingerprints[name] = StableHash.of(ways) }
        for (field, header) in headers { fingerprints[field] = StableHash.of([header.lowercased()] + ways) }
        // Another title in the configuration is no change of the page.
        if let title { fingerprints["title"] = StableHash.of([title]) }
        self.fingerprints = fingerprints
    }

    private static func headers(_ options: Options) throws(OptionProblem) -> [(field: String, header: String)] {
        for (field, header) in options.map("headers") {
            if reserved.contains(field) {
                throw OptionProblem(
                    at: ["headers", field], "'\(field)' is a field of every response; take another name")
            }
            if header.isEmpty || !header.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 0x3A }) {
                // The value is not printed: written for a request's header, it may be a secret.
                throw OptionProblem(
                    at: ["headers", field], "'\(field)' names no header; write a response header's name, as X-Version")
            }
        }
        return options.map("headers").map { (field: $0.name, header: $0.value) }
    }

    private static let reserved: Set<String> = [
        "key", "title", "state", "url", "status", "status_class", "redirect", "body", "reason", "type", "size",
        "latency",
        "certificate_days", "certificate_expires",
    ]

    var mode: ReadingMode { .list }
    var identity: UInt64 { 0 }

    var fieldNames: [String]? {
        [
            "status", "status_class", "redirect", "reason", "type", "size", "latency", "certificate_days",
            "certificate_expires",
        ] + (comparesBody ? ["body"] : []) + headers.map(\.field)
    }

    var noteNames: Set<String> { ["status_class", "reason", "type", "size", "certificate_expires"] }
    var measureNames: Set<String> { ["latency", "certificate_days"] }
    var stateNames: StateNames? { StateNames(["down", "up"]) }

    func request(base: String, context: PollContext) -> RequestTemplate {
        RequestTemplate(
            method: method, url: base, headers: [Header("Accept", "*/*")], redirects: redirects,
            inspectsConnection: true)
    }

    func isDown(_ item: Item) -> Bool { item.state == "down" }

    var bodyFields: Set<String> { Set(["redirect", "body"] + headers.map(\.field)) }

    func observe(_ seen: Observed, _ context: ObservationContext) -> Page {
        var item = Item(key: context.url, title: title ?? context.url, state: "down", url: context.url)
        switch seen {
        case .failed(let error):
            item.notes["reason"] = .text(error.detail)
        case .response(let response):
            let reason = refusal(response)
            describe(response, context, &item)
            if let reason {
                item.notes["reason"] = .text(reason)
            } else {
                item.state = "up"
                describePage(response, context, &item)
            }
        }
        return Page(items: [item])
    }

    /// Reads bytes on disk, for `list FILE` and `replay`, as a response with status 200.
    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let response = Response(
            status: 200, headers: page.headers, body: page.bytes, digest: StableHash.of(page.bytes), url: page.url,
            received: page.bytes.count)
        return observe(.response(response), ObservationContext(url: page.url, now: page.receivedAt))
    }

    /// Returns the reason why a response means down; nil when it means up.
    private func refusal(_ response: Response) -> String? {
        guard expected.contains(where: { $0.matches(response.status) }) else {
            return "the status is \(response.status), not \(expected.map(\.text).joined(separator: " or "))"
        }
        if let contains, !response.body.holds(contains) { return "the body lacks the text of 'contains'" }
        if let lacks, response.body.holds(lacks) { return "the body holds the text of 'lacks'" }
        return nil
    }

    private func describe(_ response: Response, _ context: ObservationContext, _ item: inout Item) {
        item.fields["status"] = .text(String(response.status))
        item.notes["status_class"] = .text("\(response.status / 100)xx")
        item.notes["type"] = response.headers.mediaType.map(Value.text)
        item.notes["size"] = .text(String(response.received))
        item.measures["latency"] = .text(String(response.elapsed.wholeMilliseconds))
        if let expiry = response.certificateExpires {
            item.notes["certificate_expires"] = .text(expiry.rfc3339)
            let days = (expiry.seconds(since: context.now) / 86_400).rounded(.down)
            item.measures["certificate_days"] = .text(String(Int(days)))
        }
    }

    /// Adds the fields of the page itself, which an error page in its place does not have.
    private func describePage(_ response: Response, _ context: ObservationContext, _ item: inout Item) {
        if let target = redirect(response, context) { item.fields["redirect"] = .text(target) }
        if comparesBody { item.fields["body"] = .text(String(StableHash.of(response.body), radix: 16)) }
        for (field, header) in headers { item.fields[field] = response.headers[header].map(Value.text) }
    }

    /// Returns the target of a redirect, or the address at which following redirects ended.
    private func redirect(_ response: Response, _ context: ObservationContext) -> String? {
        if (300..<400).contains(response.status), let target = response.headers["Location"] {
            return WebURL(response.url.isEmpty ? context.url : response.url)?.resolving(target)?.text ?? target
        }
        return response.url.isEmpty || response.url == context.url ? nil : response.url
    }
}
