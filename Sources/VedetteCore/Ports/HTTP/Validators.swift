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

extension ResponseHeaders {
    /// ETag, and Last-Modified where it can tell two versions apart.
    ///
    /// A body written again within the second of its Last-Modified keeps that date, and If-Modified-Since would be answered 304
    /// until the next change. So a date that is not at least a second older than the response is no validator, unless an ETag
    /// stands beside it, which takes precedence (RFC 9110 §8.8.2.2, §13.1.3).
    /// - Parameter now: the time of receipt, which dates need that have a year of two digits (RFC 9110 §5.6.7).
    public func validators(at now: Timestamp) -> Validators {
        let etag = self["ETag"]
        guard let lastModified = self["Last-Modified"] else { return Validators(etag: etag) }
        if etag == nil, let date = self["Date"].flatMap({ Timestamp(httpDate: $0, now: now) }),
            let modified = Timestamp(httpDate: lastModified, now: now), date.milliseconds - modified.milliseconds < 1000
        {
            return Validators()
        }
        return Validators(etag: etag, lastModified: lastModified)
    }
}
