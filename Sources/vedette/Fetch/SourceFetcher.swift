// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore
import VedetteHTTP

/// Fetches what a source reads: from the web, a file or a command. Only a configured URL can be a file or a command:
/// redirects and next pages must be http or https, which is checked before.
final class SourceFetcher: CallbackFetcher {
    private let web: HTTPClient
    private let files = FileFetcher()

    init(web: HTTPClient) { self.web = web }

    func fetch(_ request: Request) async throws(FetchError) -> Response {
        // The prefix first: parsing each URL would cost a twentieth of a poll.
        if let arguments = CommandURL.arguments(request.url) {
            return try await CommandFetcher().fetch(arguments, request)
        }
        guard request.url.hasPrefix("file:"), let url = URL(string: request.url), url.isFileURL else {
            return try await web.fetch(request)
        }
        return try await files.fetch(url.path(percentEncoded: false), request)
    }

    func send(_ request: Request, ended: @escaping @Sendable (FirstAnswer) -> Void) -> SentRequestID? {
        request.url.hasPrefix("http") ? web.send(request, ended: ended) : nil
    }

    func cancel(_ id: SentRequestID) async { await web.cancel(id) }
}
