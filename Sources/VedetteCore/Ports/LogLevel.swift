// SPDX-License-Identifier: Apache-2.0

/// The severity of a log line, in ascending order.
public enum LogLevel: Int, Sendable, Comparable {
    /// For developers.
    case debug
    /// Normal operation, not shown by default.
    case info
    /// Normal operation that a person wants to see.
    case notice
    /// Something that may need attention.
    case warning
    /// Something that failed.
    case error

    /// Orders by severity.
    public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}
