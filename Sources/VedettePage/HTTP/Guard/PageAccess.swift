// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Who may use the page.
public struct PageAccess: Sendable {
    /// What a client must show; nil lets in every program that reaches the address.
    public var token: Secret?
    /// The names under which a proxy offers the page, in lower case, without ports.
    public var hosts: Set<String>

    /// Creates the access rules of a page.
    public init(token: Secret? = nil, hosts: Set<String> = []) { (self.token, self.hosts) = (token, hosts) }
}
