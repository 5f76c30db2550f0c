// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The room of a Matrix sink. An alias gets its id when the user joins the room.
final class MatrixRoom: Sendable {
    /// The id or alias of the configuration.
    let configured: String
    /// The id, and whether the user must join before it writes.
    private let state: Mutex<(id: String?, mustJoin: Bool)>

    init(_ configured: String) {
        self.configured = configured
        let isAlias = configured.hasPrefix("#")
        state = Mutex((isAlias ? nil : configured, isAlias))
    }

    /// The id; before an alias was resolved, the alias.
    var id: String { state.withLock { $0.id } ?? configured }
    var mustJoin: Bool { state.withLock { $0.mustJoin } }

    func join(as id: String) { state.withLock { $0 = (id, false) } }
    func leave() { state.withLock { $0.mustJoin = true } }
}
