// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// Passes the silences that notification buttons request to the journal. Sinks exist before the watcher that takes them,
/// so the receiver is connected later.
final class NotificationActions: Silencer {
    private let receiver = Mutex<(@Sendable (Silence) async -> Void)?>(nil)

    func connect(_ take: @escaping @Sendable (Silence) async -> Void) { receiver.withLock { $0 = take } }

    /// Returns at once: the desktop's thread calls it.
    func silence(_ silence: Silence) {
        guard let take = receiver.withLock({ $0 }) else { return }
        Task { await take(silence) }
    }
}
