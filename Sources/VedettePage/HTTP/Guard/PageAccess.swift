// SPDX-License-Identifier: Apache-2.0

public import VedetteCore
import VedetteSystem

/// Who may use the page.
public struct PageAccess: Sendable {
    /// What a client must show; nil lets in every program that reaches the address.
    public var token: Secret?
    /// The names under which a proxy offers the page, in lower case, without ports.
    public var hosts: Set<String>

    /// Creates the access rules of a page.
    public init(token: Secret? = nil, hosts: Set<String> = []) { (self.token, self.hosts) = (token, hosts) }
}

extension PageAccess {
    /// Whether a text is the token. A token that became too short in its file, while the watcher runs, is none.
    func isToken(_ shown: String) -> Bool { usableToken.map { RequestGuard.isEqual(shown, $0.value) } ?? false }

    /// The token, unless it cannot be one.
    var usableToken: Secret? { token.flatMap { PageToken.problem(of: $0.value) == nil ? $0 : nil } }
}
