// SPDX-License-Identifier: Apache-2.0

/// The validators of a response for a conditional request, byte for byte (RFC 9110 §8.8).
public struct Validators: Sendable, Hashable {
    public var etag: String?
    public var lastModified: String?

    public init(etag: String? = nil, lastModified: String? = nil) {
        (self.etag, self.lastModified) = (etag, lastModified)
    }

    public var isEmpty: Bool { etag == nil && lastModified == nil }
}
