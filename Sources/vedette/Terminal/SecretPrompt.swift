// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Asks a person for a secret, which is not shown, and for a decision.
struct SecretPrompt {
    /// The person pressed Ctrl-C, or closed the input.
    struct Cancelled: Error {}

    /// A line that is being typed.
    struct Line {
        enum Step: Equatable {
            case more, finished, cancelled
        }

        /// More than any password.
        static let limit = 4096

        private(set) var bytes: [UInt8] = []

        /// Takes a key as a terminal sends it when it edits no lines itself.
        mutating func take(_ byte: UInt8) -> Step {
            switch byte {
            case 10, 13: return .finished
            case 3: return .cancelled
            case 4: return bytes.isEmpty ? .cancelled : .finished
            case 8, 127:
                // The last character, not only its last byte.
                while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            case 21: bytes = []
            case 0..<32: break
            default: if bytes.count < Line.limit { bytes.append(byte) }
            }
            return .more
        }
    }

    /// Asks on the terminal, or reads the first line of standard input where that is none.
    /// - Throws: `Cancelled`; `Exit` for text that is no secret.
    static func secret(_ question: String) throws -> String {
        let bytes: [UInt8]
        if isatty(STDIN_FILENO) == 1 {
            defer { Output.diagnose("") }
            bytes = try typed(question)
        } else {
            bytes = Array((readLine(strippingNewline: true) ?? "").utf8)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Exit(.data, "that is not UTF-8; a secret is one line of text")
        }
        guard !text.isEmpty else { throw Exit(.data, "nothing was typed, so nothing is stored") }
        guard !text.contains("\0") else { throw Exit(.data, "a secret has no NUL") }
        return text
    }

    /// Asks for yes or no; anything but yes is no.
    static func confirms(_ question: String) -> Bool {
        Output.Progress.show(StyledText(question + " [y/N] ").text)
        return ["y", "yes"].contains((readLine() ?? "").lowercased())
    }

    /// Reads keys without echo. Signals of keys are off, so that Ctrl-C cannot leave the terminal without echo.
    private static func typed(_ question: String) throws -> [UInt8] {
        var former = termios()
        guard tcgetattr(STDIN_FILENO, &former) == 0 else {
            throw Exit(.inputOutput, "failed to turn off the echo: \(String(cString: strerror(errno)))")
        }
        var silent = former
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        // What was typed before the question is no answer to it.
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else {
            throw Exit(.inputOutput, "failed to turn off the echo: \(String(cString: strerror(errno)))")
        }
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &former) }
        // Only now: who answers at once would see the answer.
        Output.Progress.show(StyledText(question).text)
        var (line, byte) = (Line(), UInt8(0))
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw Cancelled() }
            switch line.take(byte) {
            case .more: continue
            case .finished: return line.bytes
            case .cancelled: throw Cancelled()
            }
        }
    }
}
