// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore
import VedetteHTTP

/// `file:///…` beside http: work without a network. Only a configured address can be a file: a redirect or a next page
/// that leads to one is no web address and is refused before it comes here.
struct FileFetcher: Fetcher {
    let web: HTTPClient

    func fetch(_ request: Request) async throws(FetchError) -> Response {
        // Asked first: to take every address apart would be a twentieth of what a poll costs.
        guard request.url.hasPrefix("file:"), let url = URL(string: request.url), url.isFileURL else {
            return try await web.fetch(request)
        }
        return try await FileFetcher.read(url.path(percentEncoded: false), request)
    }

    @concurrent
    private static func read(_ path: String, _ request: Request) async throws(FetchError) -> Response {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw FetchError(.notFound, "the file \(path) is not there or cannot be read")
        }
        defer { try? file.close() }
        let data: Data
        do {
            data = try file.read(upToCount: request.limits.received + 1) ?? Data()
        } catch {
            throw FetchError(.notFound, "\(path) cannot be read as a file")
        }
        guard data.count <= request.limits.received else {
            throw FetchError(.tooLarge, "\(path) is longer than \(request.limits.received) bytes")
        }
        let body = Array(data)
        var response = Response(status: 200, digest: Digest.of(body), url: request.url, received: body.count)
        response.isUnchanged = response.digest == request.knownDigest
        if !response.isUnchanged { response.body = body }
        return response
    }
}
