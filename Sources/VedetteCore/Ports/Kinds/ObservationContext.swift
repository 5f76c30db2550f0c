// SPDX-License-Identifier: Apache-2.0

/// Where and when something was observed.
public struct ObservationContext: Sendable {
    /// The source's absolute URL.
    public var url: String
    /// The time of the observation.
    public var now: Timestamp

    /// Creates a context.
    public init(url: String, now: Timestamp) { (self.url, self.now) = (url, now) }
}
