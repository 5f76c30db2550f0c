// SPDX-License-Identifier: Apache-2.0

/// Limits on an XML document.
public struct XMLLimits: Hashable, Sendable {
    /// Elements inside each other (at most 256, libxml2's own limit).
    public var depth = 256
    public var elements = 2_000_000
    /// Attributes and namespace declarations of one element.
    public var attributes = 256
    /// Bytes of text or markup collected of one element.
    public var textBytes = 4 << 20
    /// Bytes of the document, as UTF-8.
    public var bytes = 64 << 20

    public init() {}
}
