// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// Passes what buttons of notifications request to the journal. Sinks exist before the watcher that takes it, so the receiver
/// is connected later.
final class NotificationActions: Silencer {
    /// What a button requests.
    enum Request: Sendable {
        case silence(Silence)
        case acknowledge(rule: String, Subject, match: String)
    }

    private let receiver = Mutex<(@Sendable (Request) async -> Void)?>(nil)
    /// The rules whose matches can be acknowledged.
    private let rules = Mutex(Set<String>())

    func connect(_ take: @escaping @Sendable (Request) async -> Void) { receiver.withLock { $0 = take } }

    func take(_ rules: [Rule]) {
        let names = rules.filter(\.remembersMatches).map(\.name)
        self.rules.withLock { $0 = Set(names) }
    }

    func silence(_ silence: Silence) { pass(.silence(silence)) }

    func canAcknowledge(rule: String) -> Bool { rules.withLock { $0.contains(rule) } }

    func acknowledge(rule: String, _ subject: Subject, match: String) {
        pass(.acknowledge(rule: rule, subject, match: match))
    }

    /// Returns at once: the desktop's thread calls it.
    private func pass(_ request: Request) {
        guard let take = receiver.withLock({ $0 }) else { return }
        Task { await take(request) }
    }
}
