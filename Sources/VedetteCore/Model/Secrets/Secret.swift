// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A password, token or secret URL. Its descriptions never show it. After a refusal it is read again from its origin, once for
/// all that share it.
public final class Secret: Sendable, CustomStringConvertible, CustomReflectable {
    private struct State {
        var value: String
        /// The value before, which a server may still repeat.
        var previous: String?
        var renewal = SecretRenewal()
        var waiting: [UInt64: UnsafeContinuation<Void, Never>] = [:]
        var lastWaiting: UInt64 = 0
    }

    /// Those that wait for one reading at most; others go on with the value that was refused. Polls that wait have taken a
    /// slot, and a program may take seconds (I7).
    private static let maximumWaiting = 32

    private let state: Mutex<State>
    private let resolve: @Sendable () async -> String?

    /// Creates a secret.
    /// - Parameter resolve: reads the secret again; nil keeps the old one. It blocks no thread of Swift's pool.
    public init(_ value: String, resolve: @escaping @Sendable () async -> String? = { nil }) {
        state = Mutex(State(value: value))
        self.resolve = resolve
    }

    /// The secret itself.
    public var value: String { state.withLock { $0.value } }

    /// The secret, and the one before it, for those who redact what a server repeats.
    public var values: [String] { state.withLock { [$0.value] + [$0.previous].compactMap(\.self) } }

    /// Another number for each value that it had.
    public var version: UInt64 { state.withLock { $0.renewal.version } }

    /// Reads the secret again after a server refused it, unless it was read a moment ago. It may take seconds: a `command:` is
    /// a program. Cancelling the task ends the wait.
    /// - Parameter version: the version that was refused.
    /// - Returns: whether the secret is another one now.
    public func renewed(after version: UInt64, now: BootTime) async -> Bool {
        switch state.withLock({ $0.renewal.refused(version, now: now) }) {
        case .useNew: return true
        case .giveUp: return false
        case .read: startReading(since: now)
        case .wait: break
        }
        await waitForReading()
        return self.version != version
    }

    /// Reads the secret again, since it may have changed.
    /// - Returns: whether it did.
    public func refresh() async -> Bool {
        let before = version
        if state.withLock({ $0.renewal.mayHaveChanged() }) == .read { startReading(since: nil) }
        await waitForReading()
        return version != before
    }

    /// Lets the next refusal lead to a reading, whatever was read before.
    public func forgetPause() { state.withLock { $0.renewal.forgetPause() } }

    /// Reads beside all that wait, since any of them may be cancelled.
    private func startReading(since start: BootTime?) {
        Task { @concurrent in
            var isOver = false
            while !isOver {
                let fresh = await resolve()
                isOver = !ended(fresh, start)
            }
        }
    }

    /// - Returns: whether it is read once more.
    private func ended(_ fresh: String?, _ start: BootTime?) -> Bool {
        let (isReading, waiting) = state.withLock { state in
            let hasChanged = fresh.map { $0 != state.value } ?? false
            if hasChanged, let fresh { (state.previous, state.value) = (state.value, fresh) }
            let isReading = state.renewal.ended(hasChanged: hasChanged, start: start)
            let waiting = isReading ? [:] : state.waiting
            if !isReading { state.waiting = [:] }
            return (isReading, waiting)
        }
        for continuation in waiting.values { continuation.resume() }
        return isReading
    }

    private func waitForReading() async {
        let id = state.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                // Checked here and not earlier: a later cancellation finds the continuation.
                let waits = state.withLock { state in
                    guard state.renewal.isReading, !Task.isCancelled, state.waiting.count < Secret.maximumWaiting
                    else { return false }
                    state.waiting[id] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// Always `[secret]`.
    public var description: String { "[secret]" }
    /// Empty, so that a dump shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
