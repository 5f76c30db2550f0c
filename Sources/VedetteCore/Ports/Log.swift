// SPDX-License-Identifier: Apache-2.0

/// The log of the watcher, for the person who runs it.
public protocol Log: Sendable {
    /// Writes one line. The message is made only when the level is shown.
    func log(_ level: LogLevel, _ message: @autoclosure () -> String)

    /// Writes one line, with what it is about for programs that read the log. The line itself names it too.
    func log(_ level: LogLevel, _ fields: LogFields, _ message: @autoclosure () -> String)
}

extension Log {
    public func log(_ level: LogLevel, _ fields: LogFields, _ message: @autoclosure () -> String) {
        log(level, message())
    }
}

/// What a log line is about.
public struct LogFields: Sendable, Hashable {
    public var source: String?
    /// The id of a poll.
    public var poll: String?
    public var sink: String?
    /// The id of a message.
    public var message: String?

    public init(source: String? = nil, poll: String? = nil, sink: String? = nil, message: String? = nil) {
        (self.source, self.poll, self.sink, self.message) = (source, poll, sink, message)
    }
}

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
