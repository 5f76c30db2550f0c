// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The program in a terminal of its own, which a Python of the standard library holds.
enum Terminal {
    struct Session {
        /// What the program wrote, escape sequences included.
        var screen: String
        /// The exit status, or minus the signal that ended it.
        var code: Int
        /// Whether the terminal shows what is typed, when the program has ended.
        var hasEcho: Bool

        /// The lines without escape sequences.
        var lines: [String] {
            screen.replacing(/\u{1B}(\[[0-9;]*[A-Za-z]|\][^\u{1B}]*\u{1B}\\)/, with: "").split(separator: "\r\n").map(
                String.init)
        }
    }

    /// Types each text of `keys` once the text before it is on the screen. Who never sees its text is killed after 30 s.
    static func start(
        _ arguments: [String], environment: [String: String] = [:], columns: Int = 80,
        keys: [(after: String, type: String)]
    ) throws -> Child {
        let steps = try JSONSerialization.data(withJSONObject: keys.map { [$0.after, $0.type] })
        // `swift test` sets NO_COLOR where its own output is no terminal; an empty value counts as unset (no-color.org).
        let defaults = ["TERM": "xterm-256color", "NO_COLOR": "", "CLICOLOR_FORCE": ""]
        return try Child(
            "/usr/bin/env",
            ["python3", "-c", driver, String(columns), String(decoding: steps, as: UTF8.self), Program.path]
                + arguments,
            environment: defaults.merging(environment) { $1 })
    }

    static func session(_ child: Child) async throws -> Session {
        guard await child.end(within: 120) == 0 else { throw Trouble(child.text(of: .err)) }
        let text = child.text(of: .out)
        guard
            let end = text.range(
                of: "\n", options: .backwards, range: text.startIndex..<text.index(before: text.endIndex)),
            let result = Program.object(String(text[end.upperBound...]))
        else { throw Trouble("no result: \(text)") }
        return Session(
            screen: String(text[..<end.lowerBound]), code: result["code"] as? Int ?? 99,
            hasEcho: result["echo"] as? Bool ?? false)
    }

    static func run(
        _ arguments: [String], environment: [String: String] = [:], columns: Int = 80,
        keys: [(after: String, type: String)] = []
    ) async throws -> Session {
        try await session(try start(arguments, environment: environment, columns: columns, keys: keys))
    }

    private static let driver = """
        import fcntl, json, os, pty, select, signal, struct, sys, termios, time
        columns, steps, command = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
        terminal, program = pty.openpty()
        fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = os.fork()
        if process == 0:
            os.close(terminal)
            os.login_tty(program)
            os.execv(command[0], command)
        deadline, seen, start, status = time.monotonic() + 30, b"", 0, None
        while True:
            if select.select([terminal], [], [], 0.02)[0]:
                seen += os.read(terminal, 65536)
                while steps and (at := seen.find(steps[0][0].encode(), start)) >= 0:
                    start = at + len(steps[0][0].encode())
                    os.write(terminal, steps.pop(0)[1].encode())
            elif status is not None:
                break
            if status is None:
                ended, status = os.waitpid(process, os.WNOHANG)
                status = status if ended else None
            if status is None and time.monotonic() > deadline:
                os.kill(process, signal.SIGKILL)
        echo = bool(termios.tcgetattr(program)[3] & termios.ECHO)
        sys.stdout.buffer.write(seen + b"\\n")
        print(json.dumps({"code": os.waitstatus_to_exitcode(status), "echo": echo}))
        """
}
