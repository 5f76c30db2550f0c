// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One operation of the API, as OpenAPI calls it: its path, its handler, the check of its parameters and its documentation.
struct APIOperation: Sendable {
    static let problemType = "application/problem+json"

    /// A kind of response.
    struct Response: Sendable {
        var status = 200
        var contentType: String
        var description: String
        /// The name of a schema of `APISchemas`; nil for text.
        var schema: String?

        /// An error, by RFC 9457.
        static func problem(_ status: Int, _ description: String) -> Response {
            Response(
                status: status, contentType: APIOperation.problemType, description: description, schema: "Problem")
        }
    }

    /// A request whose parameters are checked.
    struct Request: Sendable {
        let request: PageRequest
        fileprivate(set) var values: [String: String] = [:]

        subscript(name: String) -> String? { values[name] }

        func number(_ name: String, default usual: Int64) -> Int64 { values[name].flatMap { Int64($0) } ?? usual }

        func time(_ name: String) -> Timestamp? { values[name].flatMap { Timestamp(rfc3339: $0) } }
    }

    typealias Handler = @Sendable (Request) async throws(APIError) -> PageResponse

    /// `.get`, or `.post`, which takes the bearer token alone.
    var method = PageRequest.Method.get
    var pattern: String
    /// The operation's name in the document.
    var name: String
    /// What it returns, in one sentence.
    var summary: String
    var parameters: [APIParameter] = []
    /// The name of the schema of the body; nil for none.
    var body: String?
    var responses: [Response]
    /// Whether it needs no token.
    var isOpen = false
    /// Which requests of other sites' pages it takes.
    var otherSites = Route.OtherSites.nothing
    var handler: Handler

    /// The route for the router.
    var route: Route {
        var route = Route(method, pattern, isOpen: isOpen) { request in
            do throws(APIError) {
                return try await handler(try checked(request))
            } catch {
                return error.response
            }
        }
        route.otherSites = otherSites
        if method == .post { (route.proof, route.requiresToken) = (.bearer, true) }
        return route
    }

    private func checked(_ request: PageRequest) throws(APIError) -> Request {
        var checked = Request(request: request)
        for name in request.query.names {
            guard parameters.contains(where: { $0.place == .query && $0.name == name }) else {
                let known = parameters.filter { $0.place == .query }.map(\.name).joined(separator: ", ")
                throw .invalid("unknown parameter \(quoted(name)); there \(known.isEmpty ? "is none" : "are \(known)")")
            }
            guard request.query.all(name).count == 1 else { throw .invalid("'\(name)' occurs more than once") }
        }
        for parameter in parameters {
            let value =
                switch parameter.place {
                case .query: request.query[parameter.name]
                case .path: request.parameters[parameter.name]
                case .header: request.header(parameter.name)
                }
            guard let value else {
                if parameter.isRequired { throw .invalid("'\(parameter.name)' is missing") }
                continue
            }
            try parameter.check(value)
            checked.values[parameter.name] = value
        }
        return checked
    }
}
