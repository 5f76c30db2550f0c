// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The validated options of a webhook.
struct WebhookSettings: Sendable {
    var url: Secret
    /// Appended to the url, with percent-encoded values.
    var path: (any Template)?
    var method: String
    var headers: [Header]
    var credentials: Credentials?
    var token: Secret?
    var signature: Signature?
    var body: WebhookBody
    var tls: TLSPolicy
    var timeout: Duration

    var secrets: [Secret] {
        let inHeaders = headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
        return [url] + [token, credentials?.password].compactMap { $0 } + (signature?.keys ?? []) + inHeaders
    }

    /// Headers that the sink or the transfer sets, in lower case.
    static let reserved: Set = [
        "webhook-id", "webhook-timestamp", "webhook-signature", "content-length", "transfer-encoding", "host",
        "connection",
    ]

    init(_ options: Options) throws(OptionProblem) {
        url = options.secret("url") ?? Secret(options.text("url") ?? "")
        path = options.template("path")
        method = Self.method(options.text("method") ?? "POST")
        headers = options.headers("headers")
        (tls, timeout) = (options.tls("tls"), try options.timeout())
        credentials = try options.login()
        token = options["token"] == nil ? nil : try options.token()
        signature = try Self.signature(options)
        body = try Self.body(options)
        if let problem = ReceiverURL.problem(url.value) { throw OptionProblem("url", detail: problem) }
        if path != nil, url.value.contains(where: { "?#".contains($0) }) {
            throw OptionProblem("path", detail: "stands behind the url, which must then hold neither ? nor #")
        }
        if !HTTPSyntax.isToken(method) || ["CONNECT", "HEAD", "TRACE"].contains(method.uppercased()) {
            throw OptionProblem("method", detail: "is no method that carries a body; write POST, PUT or PATCH")
        }
        for header in headers { try check(header) }
    }

    /// Methods differ by case (RFC 9110 §9.1), and nobody means `put`.
    private static func method(_ text: String) -> String {
        let usual = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        return usual.first { $0 == text.uppercased() } ?? text
    }

    private func check(_ header: Header) throws(OptionProblem) {
        let name = header.name.lowercased()
        if !HTTPSyntax.isToken(header.name) {
            throw OptionProblem("headers", header.name, detail: "is no header name; use letters, digits and `-`")
        }
        if Self.reserved.contains(name) || name.hasPrefix("ce-") {
            throw OptionProblem("headers", header.name, detail: "is set by the sink itself; leave it out")
        }
        if !HTTPSyntax.isFieldValue(header.value) {
            throw OptionProblem("headers", header.name, detail: "has a control character or line break in its value")
        }
        if name == "authorization", token != nil || credentials != nil {
            throw OptionProblem("headers", header.name, detail: "comes from `token` or `user`; keep one of them")
        }
    }

    private static func signature(_ options: Options) throws(OptionProblem) -> Signature? {
        guard let option = options["sign"] else { return nil }
        var values = [option]
        if case .list(let list) = option { values = list }
        let keys = values.compactMap { if case .secret(let key) = $0 { key } else { nil } }
        for (i, key) in keys.enumerated() {
            guard let problem = Signature.problem(inKey: key.value) else { continue }
            throw OptionProblem("sign", String(i), detail: problem)
        }
        return Signature(keys: keys)
    }

    private static func body(_ options: Options) throws(OptionProblem) -> WebhookBody {
        let mode = options.text("mode").flatMap(WebhookBody.Mode.init)
        let format = options.text("format").flatMap(Format.init)
        guard let option = options["body"] else {
            if format != nil { throw OptionProblem("format", detail: "says how `body` is escaped; write one") }
            return .event(mode ?? .structured)
        }
        if mode != nil { throw OptionProblem("mode", detail: "is a form of the event, which `body` replaces") }
        if case .template(let template) = option {
            if format ?? .json == .json, !JSONText.isPossible(template) {
                throw OptionProblem(
                    "body", detail: "makes no JSON, whatever an event holds; correct it, or write `format: text`")
            }
            return .text(template, format ?? .json)
        }
        guard let tree = BodyTemplate(option) else {
            throw OptionProblem("body", detail: "holds something that is no JSON")
        }
        guard format ?? .json == .json else {
            throw OptionProblem("format", detail: "must be json, since `body` is no text")
        }
        return .json(tree)
    }
}
