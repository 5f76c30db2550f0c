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
