// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The request of a document in XML or HTML: a plain GET, a form, or a document of its own as in SOAP, XML-RPC and WebDAV.
struct XPathRequest: Sendable {
    /// - Parameter methods: those that the kind has.
    static func options(_ methods: [String]) -> [OptionSpec] {
        [
            OptionSpec("method", .choice(methods), "The method.", default: "POST with a `body`, else GET"),
            OptionSpec("body", .json, "The request's body: a map is sent as a form, a text as it is."),
        ]
    }

    private let method: String
    private let body: [UInt8]?
    private let type: String?
    private let accept: String

    /// - Parameter accept: the value of Accept.
    init(_ options: Options, accept: String) throws(OptionProblem) {
        self.accept = accept
        let text = try options.json("body").map(XPathRequest.text)
        method = options.text("method") ?? (text == nil ? "GET" : "POST")
        if text != nil, method == "GET" {
            throw OptionProblem("method", detail: "a 'body' is sent by POST; remove 'method', or the body")
        }
        body = (text ?? (method == "POST" ? "" : nil)).map { Array($0.utf8) }
        type = text.map {
            guard $0.trimmed().first == "<" else { return "application/x-www-form-urlencoded" }
            // SOAP 1.1 §6 and XML-RPC ask for text/xml, WebDAV (RFC 4918 §8.2) for either.
            return "text/xml; charset=utf-8"
        }
    }

    /// Returns the text of a body: of a map, `name=value&…`.
    private static func text(_ body: JSON) throws(OptionProblem) -> String {
        if let text = body.string { return text }
        var pairs: [String] = []
        for member in body.members ?? [] {
            guard let value = member.value.scalar else {
                throw OptionProblem(
                    "body", member.name, detail: "'\(member.name)' of a form must be a single value; write a text")
            }
            pairs.append("\(WebURL.encoded(member.name))=\(WebURL.encoded(value))")
        }
        guard body.members != nil else {
            throw OptionProblem("body", detail: "'body' must be a map, which is sent as a form, or a text")
        }
        return pairs.joined(separator: "&")
    }

    /// What distinguishes it from a plain GET; empty for one.
    var fingerprint: [String] {
        method == "GET" ? [] : [method, String(decoding: body ?? [], as: UTF8.self)]
    }

    func template(_ url: String) -> RequestTemplate {
        var headers = [Header("Accept", accept)]
        if let type { headers.append(Header("Content-Type", type)) }
        // Without it the whole tree is asked for, which servers refuse (RFC 4918 §9.1).
        if method == "PROPFIND" || method == "REPORT" { headers.append(Header("Depth", "1")) }
        return RequestTemplate(method: method, url: url, headers: headers, body: body)
    }
}
