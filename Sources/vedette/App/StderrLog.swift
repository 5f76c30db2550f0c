// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logging
import VedetteCore
import VedetteSinks

/// Diagnostics on stderr. journald gets priorities and no time, since it adds its own (sd-daemon(3)); a terminal gets the
/// local time. Control characters are escaped. A reader that does not read never holds up the caller: see `LineWriter`.
struct StderrLog: Log {
    private let logger: Logger

    init(level: LogLevel, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let format = LineFormatter(forJournald: StderrLog.isJournald(environment["JOURNAL_STREAM"]))
        let writer = LineWriter.standardError
        writer.reportDropped {
            format.line(.warning, "dropped \(counted($0, "log line")): standard error was not read")
        }
        var logger = Logger(label: "vedette") { _ in Handler(format: format, writer: writer) }
        logger.logLevel = StderrLog.level(level)
        self.logger = logger
    }

    func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
        logger.log(level: StderrLog.level(level), "\(message())")
    }

    private static func level(_ level: LogLevel) -> Logger.Level {
        switch level {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }

    /// `device:inode` of the stream that journald reads (systemd.exec(5)).
    private static func isJournald(_ stream: String?) -> Bool {
        guard let stream else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}

private struct LineFormatter: Sendable {
    let forJournald: Bool

    func line(_ level: Logger.Level, _ message: String) -> String {
        let text = TerminalText.safe(message)
        if forJournald { return "<\(priority(level))>\(text)\n" }
        let now = SystemClock().now().wall
        return "\(LocalTime.text(now, now: now)) \(level >= .warning ? "\(level): " : "")\(text)\n"
    }

    private func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

private struct Handler: LogHandler {
    let format: LineFormatter
    let writer: LineWriter
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    init(format: LineFormatter, writer: LineWriter) { (self.format, self.writer) = (format, writer) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { writer.write(format.line(event.level, event.message.description)) }
}
