// SPDX-License-Identifier: Apache-2.0

/// A text that is not JSON.
public struct JSONSyntaxError: Error, Sendable, Hashable {
    /// Where it stops being JSON, in bytes.
    public var offset: Int
}
