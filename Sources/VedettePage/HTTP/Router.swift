// SPDX-License-Identifier: Apache-2.0

/// Finds the handler of a request. Of two routes that accept a path the first counts.
public struct Router: Sendable {
    /// The result of a search.
    public enum Match: Sendable {
        /// The route, and the request with its parameters.
        case found(Route, PageRequest)
        /// No route takes the request; this is the response.
        case other(PageResponse)
    }

    /// All routes.
    public var routes: [Route]

    /// Creates a router.
    public init(_ routes: [Route]) { self.routes = routes }

    /// Finds the route of a request.
    public func match(_ request: PageRequest) -> Match {
        let method = request.method == .head ? .get : request.method
        var others: [PageRequest.Method] = []
        for route in routes {
            guard let parameters = route.parameters(in: request.path) else { continue }
            guard route.method == method else {
                others.append(route.method)
                continue
            }
            var request = request
            request.parameters = parameters
            return .found(route, request)
        }
        guard !others.isEmpty else { return .other(.refusal(404, "There is no such page.")) }
        let allowed = others.map { $0 == .get ? "GET, HEAD" : "POST" }.joined(separator: ", ")
        return .other(
            .refusal(405, "This address takes \(allowed).", headers: [HeaderField("Allow", allowed)]))
    }

    /// Makes the response to a request.
    public func respond(to request: PageRequest) async -> PageResponse {
        switch match(request) {
        case .found(let route, let request): await route.handler(request)
        case .other(let response): response
        }
    }
}
