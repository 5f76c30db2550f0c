// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import VedetteCore

/// Writes the lines of the log, and after ten seconds those that tell how many were folded.
final class FoldingOutput: Sendable {
    private let format: LogFormat
    private let writer: LineWriter
    private let clock: any Clock
    private let folding = Mutex((lines: LogFolding(), isTimed: false))

    init(format: LogFormat, writer: LineWriter, clock: any Clock) {
        (self.format, self.writer, self.clock) = (format, writer, clock)
        writer.reportDropped {
            let text = "dropped \(counted($0, "log line")): standard error was not read"
            return format.line(LogFolding.Line(level: .warning, text: text), at: clock.now().wall)
        }
    }

    func write(_ line: LogFolding.Line) {
        // Who asks for everything gets everything.
        guard line.level > .debug else { return write([line]) }
        let now = clock.now().boot
        let (lines, mustWait) = folding.withLock { state in
            var lines = state.lines.expired(at: now)
            if state.lines.accepts(line, at: now) { lines.append(line) }
            let mustWait = state.lines.isFolding && !state.isTimed
            if mustWait { state.isTimed = true }
            return (lines, mustWait)
        }
        write(lines)
        if mustWait { expireLater() }
    }

    /// Writes what is folded still.
    func finish() { write(folding.withLock { $0.lines.expired(at: nil) }) }

    private func expireLater() {
        let seconds = Int(LogFolding.window / .seconds(1))
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { [self] in
            let now = clock.now().boot
            let (lines, mustWait) = folding.withLock { state in
                let lines = state.lines.expired(at: now)
                state.isTimed = state.lines.isFolding
                return (lines, state.isTimed)
            }
            write(lines)
            if mustWait { expireLater() }
        }
    }

    private func write(_ lines: [LogFolding.Line]) {
        let now = clock.now().wall
        for line in lines { writer.write(format.line(line, at: now)) }
    }
}
