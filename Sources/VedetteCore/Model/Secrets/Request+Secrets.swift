// SPDX-License-Identifier: Apache-2.0

extension Request {
    /// The secrets that it carries, to its origin and its proxy alone.
    public var secrets: [Secret] {
        [Secret](headers: headers, credentials: credentials, login: login, proxy: proxy)
            + (tokenLogin?.secrets ?? [])
    }

    /// Whether it carries any.
    public var hasSecrets: Bool {
        if credentials != nil || login != nil || tokenLogin != nil || headers.contains(where: \.isSecret) {
            return true
        }
        return if case .url(_, _, .some) = proxy { true } else { false }
    }

    /// Returns the same request with another limit on its time; nil where none is left.
    public func within(_ total: Duration) -> Request? {
        guard total > .zero else { return nil }
        var request = self
        request.limits.total = total
        return request
    }
}

extension Response {
    /// Whether it refuses the secrets of a request: 401, or 403 where some were sent. Another origin got none (I9), so that
    /// its refusal tells nothing about them.
    public func refusesSecrets(of request: Request) -> Bool {
        guard status == 401 || status == 403, request.hasSecrets else { return false }
        return url == request.url || WebURL(url)?.origin == WebURL(request.url)?.origin
    }
}
