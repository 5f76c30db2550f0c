// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The request of a resource: a plain GET, or a POST with a body that is written in YAML or as text.
struct JSONRequest {
    let method: String
    let body: JSON?

    init(_ options: Options) throws(OptionProblem) {
        body = options.json("body")
        method = options.text("method") ?? (body == nil ? "GET" : "POST")
        if body != nil, method == "GET" {
            throw OptionProblem("method", detail: "a 'body' is sent by POST; remove 'method', or the body")
        }
    }

    /// A body with a member `query` that is a text is GraphQL: its response has status 200 even when it failed.
    var isGraphQL: Bool { body?["query"]?.string != nil }

    var fingerprint: [String] { [method, body?.text ?? ""] }

    /// - Parameter accept: the value of Accept.
    func template(_ url: String, accept: String) -> RequestTemplate {
        var headers = [Header("Accept", accept)]
        if let body { headers.append(Header("Content-Type", JSONRequest.type(of: body))) }
        return RequestTemplate(method: method, url: url, headers: headers, body: bytes(of: body))
    }

    /// Returns the body with another value at the end of a path of names.
    func body(setting path: [String], to value: JSON) -> [UInt8]? {
        bytes(of: body?.setting(path[...], to: value))
    }

    /// Returns the bytes of a body. A text is sent as it is written.
    private func bytes(of body: JSON?) -> [UInt8]? {
        if let text = body?.string { return Array(text.utf8) }
        return body?.bytes ?? (method == "POST" ? [] : nil)
    }

    private static func type(of body: JSON) -> String {
        guard let first = body.string?.trimmed().first else { return "application/json" }
        return "{[".contains(first) ? "application/json" : "application/x-www-form-urlencoded"
    }
}

extension JSON {
    /// Returns a copy with another value at a path. A value on the way that is not an object becomes one.
    func setting(_ path: ArraySlice<String>, to value: JSON) -> JSON {
        guard let name = path.first else { return value }
        var members = members ?? []
        let rest = path.dropFirst()
        if let at = members.firstIndex(where: { $0.name == name }) {
            members[at].value = members[at].value.setting(rest, to: value)
        } else {
            members.append(Member(name: name, value: JSON.null.setting(rest, to: value)))
        }
        return .object(members)
    }
}
