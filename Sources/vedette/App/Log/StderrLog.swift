// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteCore
import VedetteSinks

/// Diagnostics on stderr, folded where many are alike. A reader that does not read never holds up the caller: see
/// `LineWriter`.
struct StderrLog: Log {
    private let level: LogLevel
    private let output: FoldingOutput

    init(
        level: LogLevel, style: LogStyle = .text, writer: LineWriter = .standardError,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let clock = SystemClock()
        let isForJournald = StderrLog.isJournald(environment["JOURNAL_STREAM"])
        let format = LogFormat(
            style: style, isForJournald: isForJournald, time: { LocalTime.text($0, now: clock.now().wall) },
            columns: { writer.columns })
        (self.level, output) = (level, FoldingOutput(format: format, writer: writer, clock: clock))
    }

    func log(_ level: LogLevel, _ message: @autoclosure () -> String) { log(level, LogFields(), message()) }

    func log(_ level: LogLevel, _ fields: LogFields, _ message: @autoclosure () -> String) {
        guard level >= self.level else { return }
        output.write(LogFolding.Line(level: level, fields: fields, text: message()))
    }

    /// Writes what is folded still.
    func finish() { output.finish() }

    /// `device:inode` of the stream that journald reads (systemd.exec(5)).
    private static func isJournald(_ stream: String?) -> Bool {
        guard let stream else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}
