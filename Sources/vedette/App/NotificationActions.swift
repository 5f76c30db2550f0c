// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// What a button of a bubble asks for, on its way to the journal. The sinks are made before there is a watcher.
final class NotificationActions: Silencer {
    private let take = Mutex<(@Sendable (Silence) async -> Void)?>(nil)

    func connect(_ take: @escaping @Sendable (Silence) async -> Void) { self.take.withLock { $0 = take } }

    /// Returns at once: it is called on the desktop's own thread.
    func silence(_ silence: Silence) {
        guard let take = take.withLock({ $0 }) else { return }
        Task { await take(silence) }
    }
}
