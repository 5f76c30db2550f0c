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
