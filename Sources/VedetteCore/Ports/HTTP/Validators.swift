// SPDX-License-Identifier: Apache-2.0

/// The validators of a response for a conditional request, byte for byte (RFC 9110 §8.8).
public struct Validators: Sendable, Hashable {
    /// The value of `ETag`; nil for none.
    public var etag: String?
    /// The value of `Last-Modified`; nil for none.
    public var lastModified: String?

    /// Creates validators.
    public init(etag: String? = nil, lastModified: String? = nil) {
        (self.etag, self.lastModified) = (etag, lastModified)
    }

    /// Whether there is none, so that a request with them is unconditional.
    public var isEmpty: Bool { etag == nil && lastModified == nil }
}
