// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Where the page listens, and who may use it.
public struct ListenSettings: Sendable {
    /// The address.
    public var address: ListenAddress
    /// What a client must show; nil lets in every program that reaches the address.
    public var token: Secret?
    /// The names under which a proxy offers the page, in lower case.
    public var hosts: [String] = []

    /// Creates the settings of a page without a token.
    public init(address: ListenAddress) { self.address = address }
}
