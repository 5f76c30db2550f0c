// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A password, token or secret URL. It never describes itself; it can be read anew once from where it came (a rotated
/// credential after a 401).
public final class Secret: Sendable, CustomStringConvertible, CustomReflectable {
    private let current: Mutex<String>
    private let resolve: @Sendable () -> String?

    /// - Parameter resolve: reads the secret again; nil keeps the old one. It may block: call `refresh` off the poll path.
    public init(_ value: String, resolve: @escaping @Sendable () -> String? = { nil }) {
        current = Mutex(value)
        self.resolve = resolve
    }

    public var value: String { current.withLock { $0 } }

    /// True when the secret is another one now.
    public func refresh() -> Bool {
        guard let fresh = resolve() else { return false }
        return current.withLock { current in
            defer { current = fresh }
            return current != fresh
        }
    }

    public var description: String { "[secret]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
