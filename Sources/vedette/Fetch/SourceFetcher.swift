// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore
import VedetteHTTP

/// Fetches what a source reads: from the web, a file or a command. Only a configured URL can be a file or a command:
/// redirects and next pages must be http or https, which is checked before.
final class SourceFetcher: Fetcher {
    private let web: HTTPClient
    private let files = FileFetcher()

    init(web: HTTPClient) { self.web = web }

    func start(
        _ request: Request, ended: @escaping @Sendable (Result<Response, FetchError>) -> Void
    ) -> any FetchHandle {
        // The prefix first: parsing each URL would cost a twentieth of a poll.
        if request.url.hasPrefix("http") { return web.start(request, ended: ended) }
        if let arguments = CommandURL.arguments(request.url) {
            return fetch(ended) { () async throws(FetchError) in
                try await CommandFetcher().fetch(arguments, request)
            }
        }
        guard request.url.hasPrefix("file:"), let url = URL(string: request.url), url.isFileURL else {
            return web.start(request, ended: ended)
        }
        let path = url.path(percentEncoded: false)
        return fetch(ended) { [files] () async throws(FetchError) in try await files.fetch(path, request) }
    }

    /// Fetches beside the network thread, which then calls back.
    private func fetch(
        _ ended: @escaping @Sendable (Result<Response, FetchError>) -> Void,
        _ fetch: @escaping @Sendable () async throws(FetchError) -> Response
    ) -> any FetchHandle {
        FetchTask(on: web.executor, ended: ended) {
            await withTaskExecutorPreference(globalConcurrentExecutor) { await Result(of: fetch) }
        }
    }
}
