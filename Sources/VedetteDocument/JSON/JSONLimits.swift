// SPDX-License-Identifier: Apache-2.0

/// Limits on a JSON document.
public struct JSONLimits: Hashable, Sendable {
    /// Arrays and objects inside each other (at most 1000).
    public var depth = 128
    public var rows = 1_000_000
    /// Bytes of one string or name, as written.
    public var stringBytes = 16 << 20

    public init() {}
}
