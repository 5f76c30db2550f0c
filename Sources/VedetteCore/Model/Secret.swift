// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A password, token or secret URL. Its descriptions never show it. `refresh` reads it again from its origin, for instance
/// after a 401 when it was rotated.
public final class Secret: Sendable, CustomStringConvertible, CustomReflectable {
    private let current: Mutex<String>
    private let resolve: @Sendable () async -> String?

    /// Creates a secret.
    /// - Parameter resolve: reads the secret again; nil keeps the old one. It blocks no thread of Swift's pool.
    public init(_ value: String, resolve: @escaping @Sendable () async -> String? = { nil }) {
        current = Mutex(value)
        self.resolve = resolve
    }

    /// The secret itself.
    public var value: String { current.withLock { $0 } }

    /// Reads the secret again. Returns whether it changed. It may take seconds: a `command:` is a program.
    public func refresh() async -> Bool {
        guard let fresh = await resolve() else { return false }
        return current.withLock { current in
            defer { current = fresh }
            return current != fresh
        }
    }

    /// Always `[secret]`.
    public var description: String { "[secret]" }
    /// Empty, so that a dump shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
