// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import VedetteCore

/// A log that keeps its lines.
public final class LogLines: Log {
    private let lines = Mutex<[String]>([])

    /// Creates an empty log.
    public init() {}

    /// The lines so far.
    public var all: [String] { lines.withLock { $0 } }

    /// Adds a line.
    public func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
        let line = message()
        lines.withLock { $0.append(line) }
    }
}
