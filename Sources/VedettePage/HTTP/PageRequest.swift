// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A complete request of a browser or another client.
public struct PageRequest: Sendable {
    /// The methods that routes can have, and any other, which none has.
    public enum Method: Sendable, Hashable {
        case get, head, post, other

        /// - Parameter name: as sent; names of methods are in upper case (RFC 9110 §9.1).
        init(_ name: some StringProtocol) {
            self =
                switch name {
                case "GET": .get
                case "HEAD": .head
                case "POST": .post
                default: .other
                }
        }
    }

    /// Where a request came from.
    public enum Peer: Sendable, Hashable {
        /// A numeric address.
        case address(String)
        /// The other end of a Unix socket.
        case local
    }

    /// The method.
    public var method: Method
    /// The segments of the path, decoded: `["items", "lab", "a/b"]` for `/items/lab/a%2Fb`. Empty for `/`.
    public var path: [String]
    /// The parameters of the query, decoded.
    public var query: FormValues
    /// The headers, in order.
    public var headers: [HeaderField]
    /// The body; empty for none.
    public var body: [UInt8]
    /// The other end of the connection.
    public var peer: Peer
    /// The values of the `{name}` segments of the route, by name.
    public var parameters: [String: String] = [:]

    /// Creates a request from its target as sent.
    /// - Parameter target: the path and the query, such as `/items/lab?page=2`.
    /// - Returns: nil for a target that is not an absolute path, or that has an empty or relative segment in the middle.
    public init?(
        _ method: Method, _ target: some StringProtocol, headers: [HeaderField] = [], body: [UInt8] = [],
        peer: Peer = .local
    ) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, path.first == "/", path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return nil
        }
        var segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
            // A plus is a plus in a path.
            FormEncoding.decoded($0.split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%2B"))
        }
        if segments.last == "" { segments.removeLast() }
        // Only files have relative paths; a proxy may understand them in another way.
        guard !segments.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." || $0.utf8.contains(0) }) else {
            return nil
        }
        (self.method, self.path, self.headers, self.body, self.peer) = (method, segments, headers, body, peer)
        query = FormValues(parts.count > 1 ? parts[1] : "")
    }

    /// Whether a person asks for a page, and not a program for data.
    var acceptsHTML: Bool { header("Accept")?.contains("text/html") == true }

    /// The values of the body of a form.
    public var form: FormValues { FormValues(String(decoding: body, as: UTF8.self)) }

    /// Returns the value of a header that occurs once; nil for none or several.
    public func header(_ name: String) -> String? {
        let values = headers.filter { $0.name.lowercased() == name.lowercased() }
        return values.count == 1 ? values[0].value : nil
    }

    /// Whether a client says in If-None-Match that it has what an entity tag stands for (RFC 9110 §13.1.2). The comparison is weak: a
    /// proxy that compresses a response makes its tag weak.
    func has(tag: String) -> Bool {
        headers.filter { $0.name.lowercased() == "if-none-match" }.flatMap { $0.value.split(separator: ",") }
            .map { $0.trimmed() }.contains { $0 == "*" || ($0.hasPrefix("W/") ? $0.dropFirst(2) : $0[...]) == tag }
    }

    /// Returns the value of a cookie; nil for none.
    public func cookie(_ name: String) -> String? {
        for header in headers where header.name.lowercased() == "cookie" {
            for pair in header.value.split(separator: ";") {
                let parts = pair.trimmed().split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0] == name { return String(parts[1]) }
            }
        }
        return nil
    }
}
