// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A watcher whose terminal is closed.
@Suite("The end of a terminal", .timeLimit(.minutes(10)))
struct HangUpTests {
    /// Starts the program as the leader of a session on a terminal of its own, or behind a shell that is. Sends SIGHUP and
    /// waits for the reload, then closes the terminal, and prints the status of the leader once the program is gone.
    private static let driver = """
        import os, pty, select, signal, sys
        shell, command = sys.argv[1] == "shell", sys.argv[2:]
        alive, held = os.pipe()
        os.set_inheritable(held, True)
        leader, terminal = pty.fork()
        if leader == 0:
            if shell: os.execv("/bin/sh", ["sh", "-c", '"$@"; exit 9', "sh"] + command)
            os.execv(command[0], command)
        os.close(held)
        seen = b""
        def wait_for(text):
            global seen
            while text not in seen:
                seen += os.read(terminal, 65536)
        wait_for(b"watching")
        if not shell:
            os.kill(leader, signal.SIGHUP)
            wait_for(b"reloaded")
        os.close(terminal)
        # Readable once each process that holds the other end has ended.
        if not select.select([alive], [], [], 30)[0]:
            print("it goes on")
            os.killpg(leader, signal.SIGKILL)
        else:
            print(os.waitstatus_to_exitcode(os.waitpid(leader, 0)[1]))
        """

    private func end(_ leader: String) async throws -> String {
        let home = try Home()
        let file = home.directory.appending(path: "a.json")
        try #"[{"id": 1}]"#.write(to: file, atomically: true, encoding: .utf8)
        try home.write(
            """
            sources:
              a: {kind: json, url: "file://\(file.path)", key: id, every: 1h}
            sinks:
              out: {kind: stdout}
            """)
        let child = try Child(
            "/usr/bin/env", ["python3", "-c", HangUpTests.driver, leader, Program.path, "run"] + home.places)
        defer { child.kill(SIGTERM) }
        guard await child.end(within: 60) == 0 else { throw Trouble(child.text(of: .err)) }
        return child.text(of: .out)
    }

    @Test("SIGHUP reloads while there is a terminal; once its window is closed, it ends the program as SIGTERM does")
    func window() async throws { #expect(try await end("program") == "0\n") }

    @Test("a shell that ends with its terminal ends the watcher that it started")
    func shell() async throws { #expect(try await end("shell") == "-1\n") }
}
