// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension Source {
    /// What the server says in the body of a response that refuses the request, as it may be stored and shown; nil for
    /// nothing.
    func refusal(in response: Response) -> String? {
        guard response.status >= 400, !response.body.isEmpty else { return nil }
        let page = PageBody(bytes: response.body, headers: response.headers, url: response.url)
        return kind.refusal(in: page).flatMap { ServerWords.shown($0, server.redactor(for: response)) }
    }
}
