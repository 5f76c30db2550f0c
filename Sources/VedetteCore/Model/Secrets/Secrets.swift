// SPDX-License-Identifier: Apache-2.0

/// The secrets that go to one server or receiver.
extension [Secret] {
    /// Those among the settings of a server or a request.
    public init(headers: [Header], credentials: Credentials?, login: LoginForm?, proxy: Proxy) {
        let proxySecret: Secret? = if case .url(_, _, let password) = proxy { password } else { nil }
        self =
            headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
            + [credentials?.password, proxySecret].compactMap { $0 } + (login?.secrets ?? [])
    }

    /// Another number whenever one of them has another value.
    public var version: UInt64 { reduce(0) { $0 &+ $1.version } }

    /// Reads all of them again after a refusal, at the same time, unless one is another one already. It may take seconds.
    /// - Parameter version: the version that was refused.
    /// - Returns: whether one of them is another one now.
    public func renewed(after version: UInt64, now: BootTime) async -> Bool {
        let versions = map(\.version)
        guard versions.reduce(0, &+) == version else { return true }
        return await withTaskGroup(of: Bool.self) { group in
            for (secret, version) in zip(self, versions) {
                group.addTask { await secret.renewed(after: version, now: now) }
            }
            return await group.reduce(false) { $0 || $1 }
        }
    }
}
