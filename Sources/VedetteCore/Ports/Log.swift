// SPDX-License-Identifier: Apache-2.0

/// Where the shells say what a person running the watcher should know.
public protocol Log: Sendable {
    func log(_ level: LogLevel, _ message: @autoclosure () -> String)
}

public enum LogLevel: Int, Sendable, Comparable {
    case debug, info, notice, warning, error

    public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}
