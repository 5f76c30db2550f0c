// SPDX-License-Identifier: Apache-2.0

/// A kind whose item is the response itself: a refused connection and a status 500 are states, not failures. Its mode is
/// `list`.
public protocol ObservingKind: SourceKind {
    /// Reads a response or a failure as an item.
    func observe(_ observed: Observed, _ context: ObservationContext) -> Page
    /// Returns whether an item's state is `down`, which is confirmed only after `fails` polls in a row.
    func isDown(_ item: Item) -> Bool
    /// Fields that come from the body. While an item is down they keep their last values, since an error page has none.
    var bodyFields: Set<String> { get }
}

/// What an `ObservingKind` reads.
public enum Observed: Sendable {
    /// A response of any status.
    case response(Response)
    /// No response.
    case failed(FetchError)
}

/// Where and when something was observed.
public struct ObservationContext: Sendable {
    /// The source's absolute URL.
    public var url: String
    /// The time of the observation.
    public var now: Timestamp

    /// Creates a context.
    public init(url: String, now: Timestamp) { (self.url, self.now) = (url, now) }
}
