// SPDX-License-Identifier: Apache-2.0

extension ReadError {
    /// The error of a response without a usable body; nil for a body.
    /// - Parameters:
    ///   - method: of the request.
    ///   - server: whose settings the request was made with.
    ///   - words: what the server says in the body, as it may be shown; nil for nothing.
    ///   - mayBeEmpty: an empty body is read like any other.
    public init?(_ response: Response, method: String, server: Server, words: String?, mayBeEmpty: Bool) {
        if response.status == 304 {
            self.init(.protocol, "the server answered 'not modified' to a request that set no condition")
        } else if let failure = Failure(status: response.status, method: method) {
            self.init(
                status: response.status, failure, server: server, words: words,
                namesTarget: response.headers["Location"] != nil)
        } else if response.body.isEmpty, !mayBeEmpty, response.url.hasPrefix("file:") {
            self.init(.empty, "the file is empty")
        } else if response.body.isEmpty, !mayBeEmpty {
            let detail =
                "the answer was \(response.status) with an empty body; a server may do so for a User-Agent that it does "
                + "not know"
            self.init(.empty, detail)
        } else {
            return nil
        }
    }

    /// The error of a status.
    /// - Parameters:
    ///   - server: whose settings the request was made with.
    ///   - words: what the server says in the body, as it may be shown; nil for nothing.
    ///   - namesTarget: whether the response names the address that a redirect leads to.
    public init(status: Int, _ failure: Failure, server: Server, words: String?, namesTarget: Bool = true) {
        let incompleteness = failure == .incomplete ? ReadError.incompleteness(of: status) : ""
        let quoted = words.map { ": \"\($0)\"" } ?? ""
        let known =
            failure == .redirect && !namesTarget
            ? "it names no address to go to" : ReadError.remedy(of: failure, server)
        let remedy = known.map { "; \($0)" } ?? ""
        self.init(failure, "the server answered \(status)\(incompleteness)\(quoted)\(remedy)")
    }

    /// What a person can do about a refusal; nil where nothing is known to help.
    public static func remedy(of failure: Failure, _ server: Server) -> String? {
        switch failure {
        case .incomplete: "it is not read as a complete list"
        case .unauthorized: server.remedyOfUnauthorized
        case .forbidden where server.identifiesItself: "these credentials may not read it"
        case .forbidden:
            "many servers refuse a User-Agent that they do not know: set 'user_agent'; others want credentials"
        case .notFound: "check the path"
        case .gone: "it is gone for good, and asked once a day until the source is removed or has another url"
        case .redirect: "write the new address as the source's url"
        default: nil
        }
    }

    /// Names what a success without a complete representation is (RFC 9110 §15.3, RFC 4918 §11.1, RFC 3229 §10.4.1).
    private static func incompleteness(of status: Int) -> String {
        let name =
            switch status {
            case 202: "accepted: the answer is not ready yet"
            case 204: "no content"
            case 205: "reset content"
            case 206: "partial content, though no range was asked for"
            case 207: "multi-status, which is complete for PROPFIND and REPORT alone"
            case 226: "IM used: the difference to an earlier answer"
            default: "neither 200 nor 203"
            }
        return " (\(name))"
    }
}

extension Server {
    /// Whether requests show who makes them.
    fileprivate var identifiesItself: Bool {
        credentials != nil || login != nil || tokenLogin != nil || !secretHeaders.isEmpty
    }

    private var secretHeaders: [String] { headers.filter(\.isSecret).map(\.name) }

    /// Names what was sent and refused, never a user and password where there are none.
    fileprivate var remedyOfUnauthorized: String {
        var sent = secretHeaders.map { "the value of the header '\($0)'" }
        switch credentials {
        case .basic, .digest: sent.insert("user and password", at: 0)
        case .bearer: sent.insert("the token", at: 0)
        case .query(let name, _): sent.insert("the value of the parameter '\(name)'", at: 0)
        case .grant: sent.insert("the client and its secret", at: 0)
        case .signature: sent.insert("the access key and its secret", at: 0)
        case nil where login != nil: sent.insert("the fields of the login", at: 0)
        case nil where tokenLogin != nil: sent.insert("what 'post' of the session sends", at: 0)
        case nil: break
        }
        guard !sent.isEmpty else {
            let ways = "'user' and 'password', 'token', 'session' or a header"
            return "it wants credentials, and none were sent: "
                + (name.isEmpty
                    ? "write a server with \(ways) under 'servers', and name it with 'server' in place of 'url'"
                    : "set \(ways) of the server '\(name)'")
        }
        return "check \(sent.joined(separator: " and "))"
    }
}
