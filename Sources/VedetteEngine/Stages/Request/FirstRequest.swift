// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The first request of a poll. Two answers make it ask again, each once.
struct FirstRequest: Sendable {
    private(set) var request: Request
    private var isPastCaches = false
    private var isWhole = false

    init(_ request: Request) { self.request = request }

    /// Makes it ask past all caches: a 304 to a request without conditions comes from a confused one.
    /// - Returns: whether the request must be sent again.
    mutating func repeatPastCaches(after response: Response) -> Bool {
        guard response.status == 304, request.validators.isEmpty, !isPastCaches else { return false }
        isPastCaches = true
        request.knownDigest = nil
        request.headers.removeAll { $0.name.lowercased() == "cache-control" }
        request.headers.append(Header("Cache-Control", "no-cache"))
        return true
    }

    /// Makes it ask without conditions: a page that is as before, but names another page now, says so only in the whole response.
    /// - Returns: whether the request must be sent again.
    mutating func repeatWhole(after response: Response, _ prepared: PreparedRequest, of source: Source) -> Bool {
        guard response.isUnchanged, source.hasUnknownNextPage(response), !isWhole else { return false }
        (request, isWhole, isPastCaches) = (prepared.request, true, false)
        return true
    }
}
