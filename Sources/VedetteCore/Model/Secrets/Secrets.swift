// SPDX-License-Identifier: Apache-2.0

/// The secrets that go to one server or receiver.
extension [Secret] {
    /// Those among the settings of a server or a request.
    public init(headers: [Header], credentials: Credentials?, login: LoginForm?, proxy: Proxy) {
        let proxySecret: Secret? = if case .url(_, _, let password) = proxy { password } else { nil }
        self =
            headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
            + (credentials?.secrets ?? []) + [proxySecret].compactMap { $0 } + (login?.secrets ?? [])
    }

    /// Another number whenever one of them has another value.
    public var version: UInt64 { reduce(0) { $0 &+ $1.version } }

    /// Reads all of them again after a refusal, at the same time, unless one is another one already. It may take seconds.
    /// - Parameters:
    ///   - version: the version that was refused.
    ///   - limit: for the wait. The reading goes on: a file of a server that is away blocks its reader for ever.
    /// - Returns: whether one of them is another one now.
    public func renewed(
        after version: UInt64, now: BootTime, within limit: Duration = .seconds(30)
    ) async -> Bool {
        let versions = map(\.version)
        guard versions.reduce(0, &+) == version else { return true }
        // Whether a secret is another one now; nil for the end of the time.
        return await withTaskGroup(of: Bool?.self) { group in
            for (secret, version) in zip(self, versions) {
                group.addTask { await secret.renewed(after: version, now: now) }
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            var (unread, isAnother) = (count, false)
            while unread > 0, let answer = await group.next(), let answer {
                (unread, isAnother) = (unread - 1, isAnother || answer)
            }
            group.cancelAll()
            return isAnother
        }
    }
}
