// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSinks
import VedetteSystem

/// Results on stdout, diagnostics on stderr. A line given as text is escaped here, so that no command can pass control
/// characters of strangers to a terminal.
enum Output {
    /// The reader of stdout closed the pipe: it has enough, which is a success.
    struct Closed: Error {}

    static func print(_ line: String) throws { try print(StyledText(line)) }

    static func print(_ line: StyledText) throws { try print(Array(line.text.utf8)) }

    /// Writes lines at once: a call per line would take most of the time of a long list.
    static func print(_ lines: [StyledText]) throws {
        guard !lines.isEmpty else { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.count * 120)
        for line in lines {
            bytes.append(contentsOf: line.text.utf8)
            bytes.append(10)
        }
        try check(FileDescriptor.writeAll(bytes, to: STDOUT_FILENO))
    }

    /// - Parameter bytes: a line that is escaped already, such as a JSON object.
    static func print(_ bytes: [UInt8]) throws { try check(FileDescriptor.writeAll(bytes + [10], to: STDOUT_FILENO)) }

    static func diagnose(_ line: String) { diagnose(StyledText(line)) }

    static func diagnose(_ line: StyledText) {
        let lines = line.wrapped(to: TerminalSize.of(STDERR_FILENO)?.columns)
        FileDescriptor.writeAll(Array(lines.map { "\($0.text)\n" }.joined().utf8), to: STDERR_FILENO)
    }

    /// Prints a sentence of any length: on a terminal in as many lines as it needs.
    /// - Parameter indent: the blanks before each line but the first.
    static func printSentence(_ sentence: StyledText, hanging indent: Int) throws {
        try print(sentence.wrapped(to: TerminalSize.current?.columns, hanging: indent))
    }

    /// Replaces what the terminal shows. The new lines are written over the old ones in one piece, so that nothing flickers.
    /// - Parameter size: lines that it has no room for are only counted.
    static func redraw(_ lines: [StyledText], in size: TerminalSize) throws {
        var shown = lines[...]
        if lines.count >= size.rows {
            shown = lines.prefix(max(1, size.rows - 2))
            shown.append(StyledText("and \(counted(lines.count - shown.count, "more line"))"))
        }
        // Home; each line up to its end; the rest of the screen.
        let text = "\u{1B}[H" + shown.map { "\($0.text)\u{1B}[K\n" }.joined() + "\u{1B}[J"
        try check(FileDescriptor.writeAll(Array(text.utf8), to: STDOUT_FILENO))
    }

    /// A word on the terminal's current line that is removed again.
    enum Progress {
        static func show(_ text: String) { FileDescriptor.writeAll(Array(text.utf8), to: STDERR_FILENO) }
        static func clear() { FileDescriptor.writeAll(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO) }
    }

    /// Ends the program with 0 when the reader of stdout goes away, also while there is nothing to print.
    static func endWhenUnread() {
        var thread = pthread_t()
        let started = pthread_create(
            &thread, nil,
            { _ in
                // No event is asked for: poll(2) reports errors and hang-ups of the other end anyway.
                var results = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
                while poll(&results, 1, -1) < 0 {
                    guard errno == EINTR else { return nil }
                }
                Exit.endProcess()
            }, nil)
        if started == 0 { pthread_detach(thread) }
    }

    private static func check(_ ok: Bool) throws {
        guard !ok else { return }
        if errno == EPIPE { throw Closed() }
        throw Exit(.inputOutput, "failed to write to standard output: \(String(cString: strerror(errno)))")
    }
}
