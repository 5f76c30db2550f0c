// SPDX-License-Identifier: Apache-2.0

/// A session that begins with a POST: the response has a token, which every further request carries in a header.
public struct TokenLogin: Sendable {
    /// What is posted.
    public enum Body: Sendable {
        /// Nothing.
        case none
        /// JSON in pieces: text as it is sent, and secrets, each of which is sent as a JSON string.
        case json([Header.Content])
        /// The fields of a form.
        case form([LoginForm.Field])
    }

    /// Where the response has the token.
    public enum Place: Sendable, Hashable {
        /// A header of that name.
        case header(String)
        /// A field of the JSON body, by the names on the way to it.
        case field([String])
        /// The whole body, as a JSON string or as text.
        case body
    }

    /// The absolute URL. It gets the fields and no other does: its redirect is not followed (I9).
    public var url: String
    /// What is posted.
    public var body = Body.none
    /// The user and password of basic authentication; nil for none.
    public var basic: (user: String, password: Secret)?
    /// Where the token is; nil where the session is in cookies alone.
    public var token: Place?
    /// The header that carries the token.
    public var header = ""
    /// The scheme before the token, as `Bearer`; nil for the token alone.
    public var scheme: String?
    /// The field of the JSON body that tells when the token expires; nil for none.
    public var expires: [String]?
    /// The status of a response that asks for another login.
    public var status = 401

    /// Creates a login.
    public init(url: String) { self.url = url }

    /// The secrets that it sends.
    public var secrets: [Secret] {
        let contents: [Header.Content] =
            switch body {
            case .none: []
            case .json(let pieces): pieces
            case .form(let fields): fields.map(\.content)
            }
        return contents.compactMap { if case .secret(let secret) = $0 { secret } else { nil } }
            + (basic.map { [$0.password] } ?? [])
    }

    /// The body as it is sent, and its media type; nil for none.
    public var content: (type: String, bytes: [UInt8])? {
        switch body {
        case .none: return nil
        case .json(let pieces):
            let texts = pieces.map { piece in
                switch piece {
                case .plain(let text): text
                case .secret(let secret): JSON.string(secret.value).text
                }
            }
            return ("application/json", Array(texts.joined().utf8))
        case .form(let fields):
            let pairs = fields.map { "\(WebURL.encoded($0.name))=\(WebURL.encoded($0.value))" }
            return ("application/x-www-form-urlencoded", Array(pairs.joined(separator: "&").utf8))
        }
    }

    /// Equal for equal logins; never stored or printed.
    public var parts: [String] {
        var parts: [String] = [url, header, scheme ?? "", String(status)]
        if let basic { parts += [basic.user, basic.password.value] }
        if let expires { parts += expires }
        switch token {
        case nil: parts.append("cookies")
        case .header(let name): parts += ["header", name]
        case .field(let names): parts += ["field"] + names
        case .body: parts.append("body")
        }
        if let content { parts += [content.type, String(decoding: content.bytes, as: UTF8.self)] }
        return parts
    }
}
