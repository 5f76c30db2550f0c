// SPDX-License-Identifier: Apache-2.0

/// What a conditional request carries, as the server wrote it.
public struct Validators: Sendable, Hashable {
    public var etag: String?
    public var lastModified: String?

    public init(etag: String? = nil, lastModified: String? = nil) {
        (self.etag, self.lastModified) = (etag, lastModified)
    }

    public var isEmpty: Bool { etag == nil && lastModified == nil }
}
