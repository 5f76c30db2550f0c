// SPDX-License-Identifier: Apache-2.0

/// A path with its handler.
public struct Route: Sendable {
    /// Makes the response. It runs on Swift's pool, and must not block.
    public typealias Handler = @Sendable (PageRequest) async -> PageResponse

    /// GET also serves HEAD.
    public var method: PageRequest.Method
    /// The path, such as `/sources/{source}`; `{name}` takes one segment into `PageRequest.parameters`.
    public var pattern: String
    /// Makes the response.
    public var handler: Handler
    /// Whether it needs no token.
    public var isOpen: Bool
    /// Which requests of other sites' pages it takes.
    var otherSites = OtherSites.links
    /// How a POST shows that no page of another site sent it.
    var proof = Proof.form
    /// Whether it is refused while the page has no token, also on this machine.
    var requiresToken = false
    let segments: [Segment]

    /// How a POST shows that no page of another site sent it.
    enum Proof: Sendable {
        /// It is a form with what only this page shows.
        case form
        /// It has the token as a bearer token, which no browser adds by itself.
        case bearer
    }

    /// What pages of other sites may do, of what a browser sends for them.
    enum OtherSites: Sendable {
        case nothing
        /// Link here: the whole window shows the answer.
        case links
        /// Show it as a part of themselves.
        case everything

        func accepts(_ request: PageRequest) -> Bool {
            switch self {
            case .nothing: false
            case .links:
                request.header("Sec-Fetch-Mode") == "navigate"
                    && request.header("Sec-Fetch-Dest") == "document"
            case .everything: true
            }
        }
    }

    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    /// Creates a route.
    public init(
        _ method: PageRequest.Method, _ pattern: String, isOpen: Bool = false, _ handler: @escaping Handler
    ) {
        (self.method, self.pattern, self.isOpen, self.handler) = (method, pattern, isOpen, handler)
        segments = pattern.split(separator: "/").map { part in
            part.first == "{" && part.last == "}"
                ? .parameter(String(part.dropFirst().dropLast())) : .literal(String(part))
        }
    }

    /// Returns the values of the parameters when the path is this route's; else nil.
    func parameters(in path: [String]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (part, segment) in zip(path, segments) {
            switch segment {
            case .literal(let text) where text == part: continue
            case .literal: return nil
            case .parameter(let name): values[name] = part
            }
        }
        return values
    }
}
