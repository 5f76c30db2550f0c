// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logging
import VedetteCore
import VedetteSinks

/// Diagnostics on stderr, folded where many are alike. A reader that does not read never holds up the caller: see
/// `LineWriter`.
struct StderrLog: Log {
    private let logger: Logger
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
        let output = FoldingOutput(format: format, writer: writer, clock: clock)
        var logger = Logger(label: "vedette") { _ in Handler(output: output) }
        logger.logLevel = StderrLog.level(level)
        (self.logger, self.output) = (logger, output)
    }

    func log(_ level: LogLevel, _ message: @autoclosure () -> String) { log(level, LogFields(), message()) }

    func log(_ level: LogLevel, _ fields: LogFields, _ message: @autoclosure () -> String) {
        logger.log(level: StderrLog.level(level), "\(message())", metadata: fields.metadata)
    }

    /// Writes what is folded still.
    func finish() { output.finish() }

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

private struct Handler: LogHandler {
    let output: FoldingOutput
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    init(output: FoldingOutput) { self.output = output }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        output.write(
            LogFolding.Line(
                level: LogLevel(event.level), fields: LogFields(event.metadata ?? [:]),
                text: event.message.description))
    }
}

extension LogLevel {
    fileprivate init(_ level: Logger.Level) {
        switch level {
        case .trace, .debug: self = .debug
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error, .critical: self = .error
        }
    }
}

extension LogFields {
    fileprivate init(_ metadata: Logger.Metadata) {
        func text(_ name: String) -> String? { metadata[name]?.description }
        self.init(source: text("source"), poll: text("poll"), sink: text("sink"), message: text("message"))
    }

    fileprivate var metadata: Logger.Metadata {
        let all = [("source", source), ("poll", poll), ("sink", sink), ("message", message)]
        return all.reduce(into: [:]) { metadata, field in
            if let value = field.1 { metadata[field.0] = .string(value) }
        }
    }
}
