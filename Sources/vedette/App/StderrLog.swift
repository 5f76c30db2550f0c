// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logging
import VedetteCore
import VedetteSinks

/// Diagnostics on stderr: for journald with its priorities and without a time of their own (sd-daemon(3)), for a terminal
/// with the local time. Control characters of strangers are escaped.
struct StderrLog: Log {
    private let logger: Logger

    init(level: LogLevel, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let forJournald = StderrLog.isJournald(environment["JOURNAL_STREAM"])
        var logger = Logger(label: "vedette") { _ in LineHandler(forJournald: forJournald) }
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

private struct LineHandler: LogHandler {
    let forJournald: Bool
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    init(forJournald: Bool) { self.forJournald = forJournald }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let text = TerminalText.safe(event.message.description)
        let line = forJournald ? "<\(priority(event.level))>\(text)\n" : "\(clock()) \(label(event.level))\(text)\n"
        Output.write(line, to: STDERR_FILENO)
    }

    private func clock() -> String {
        let now = SystemClock().now().wall
        return LocalTime.text(now, now: now)
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

    private func label(_ level: Logger.Level) -> String {
        level >= .warning ? "\(level): " : ""
    }
}
