// SPDX-License-Identifier: Apache-2.0

/// A header of a request or a response.
public struct HeaderField: Sendable, Hashable {
    /// The name, in any case.
    public var name: String
    /// The value.
    public var value: String

    /// Creates a header.
    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}
