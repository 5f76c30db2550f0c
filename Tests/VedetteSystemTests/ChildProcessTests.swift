// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import VedetteSystem

@Suite("A child process", .timeLimit(.minutes(10)))
struct ChildProcessTests {
    private func command(_ arguments: [String], limit: Duration = .seconds(3600)) -> ChildCommand {
        ChildCommand(arguments, timeLimit: limit)
    }

    private func printed(by command: ChildCommand) async throws -> [String] {
        let output = try await ChildProcess(command).run()
        #expect(output.exit == .status(0))
        return String(decoding: output.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("it reads its input, and both outputs and the exit are returned")
    func streams() async throws {
        var cat = command(["sh", "-c", "cat; echo why >&2; exit 3"])
        cat.input = Array(repeating: UInt8(ascii: "x"), count: 1 << 20)
        cat.output = .init(1 << 20, .fails)
        let output = try await ChildProcess(cat).run()
        #expect(output.output == cat.input && output.errorOutput == Array("why\n".utf8) && output.exit == .status(3))
        #expect(try await ChildProcess(command(["sh", "-c", "kill -9 $$"])).run().exit == .signal(SIGKILL))
    }

    @Test("its streams can be opened by their names, as scripts do")
    func named() async throws {
        var script = command(["sh", "-c", "cat /dev/stdin; echo out > /dev/stdout; echo why > /dev/stderr"])
        script.input = Array("in\n".utf8)
        let output = try await ChildProcess(script).run()
        #expect(String(decoding: output.output, as: UTF8.self) == "in\nout\n")
        #expect(String(decoding: output.errorOutput, as: UTF8.self) == "why\n" && output.exit == .status(0))
    }

    @Test("input that it does not read is no error, on whatever thread it runs")
    func unread() async throws {
        var deaf = command(["sh", "-c", "exec <&-; echo done"])
        deaf.input = Array(repeating: UInt8(ascii: "x"), count: 1 << 20)
        #expect(try await printed(by: deaf) == ["done"])
        #expect(try ChildProcess(deaf).runBlocking().exit == .status(0))
    }

    @Test(
        "it has its three streams and no other descriptor, the variables of its command, and default signals"
    )
    func alone() async throws {
        // Not close-on-exec, as a careless parent leaves it.
        let stray = open("/dev/null", O_RDONLY)
        defer { close(stray) }
        // The fourth is the directory that ls reads.
        #expect(try await printed(by: command(["ls", "/proc/self/fd"])) == ["0", "1", "2", "3"])
        var env = command(["env"])
        env.environment = ["A": "b=c"]
        #expect(try await printed(by: env) == ["A=b=c"])
        // The thread that starts it blocks all signals.
        for signal in [SIGTERM, SIGPIPE] {
            let killed = try await ChildProcess(command(["sh", "-c", "kill -\(signal) $$"])).run()
            #expect(killed.exit == .signal(signal))
        }
    }

    @Test("it runs in the directory of its command; one that is not there is a failure to start")
    func directory() async throws {
        var pwd = command(["pwd"])
        pwd.directory = "/usr"
        #expect(try await printed(by: pwd) == ["/usr"])
        pwd.directory = "/none/such"
        await #expect(throws: ChildProcess.Failure.cannotStart(ENOENT)) { try await ChildProcess(pwd).run() }
        await #expect(throws: ChildProcess.Failure.cannotStart(ENOENT)) {
            try await ChildProcess(command(["/none/such"])).run()
        }
    }

    @Test("a want of descriptors, processes or memory, or a program that is being written, passes by itself")
    func temporary() {
        for code in [EMFILE, ENFILE, EAGAIN, ENOMEM, ETXTBSY] {
            #expect(ChildProcess.Failure.cannotStart(code).isTemporary, "\(String(cString: strerror(code)))")
        }
        let lasting = [ENOENT, EACCES, ENOEXEC, E2BIG, ENOTDIR].map { ChildProcess.Failure.cannotStart($0) }
        for failure in lasting + [.timedOut, .tooMuchOutput, .cancelled] { #expect(!failure.isTemporary, "\(failure)") }
    }

    @Test("it ends when the program does, whatever that leaves running")
    func background() async throws {
        let output = try await ChildProcess(command(["sh", "-c", "sleep 3600 & echo $!"])).run()
        let left = try #require(pid_t(String(decoding: output.output.dropLast(), as: UTF8.self)))
        #expect(kill(left, SIGKILL) == 0)
    }

    @Test(
        "its time limit kills its children too",
        arguments: ["yes >&2", "sleep 600 & echo; wait", "exec >&- 2>&-; sleep 600"])
    func late(_ script: String) async {
        await #expect(throws: ChildProcess.Failure.timedOut) {
            try await ChildProcess(command(["sh", "-c", script], limit: .milliseconds(200))).run()
        }
    }

    @Test("output beyond the limit fails, or its end or its beginning is dropped")
    func excess() async throws {
        var yes = command(["yes"])
        yes.output = .init(1000, .fails)
        await #expect(throws: ChildProcess.Failure.tooMuchOutput) { try await ChildProcess(yes).run() }
        var count = command(["seq", "1", "100000"])
        count.output = .init(4, .dropsEnd)
        #expect(try await printed(by: count) == ["1", "2"])
        count.output = .init(7, .dropsBeginning)
        #expect(try await printed(by: count) == ["100000"])
    }

    @Test("cancelling kills it and its children; before its start it does not start; after its end nothing happens")
    func cancel() async throws {
        let mark = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        #expect(mkfifo(mark, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: mark) }
        let child = ChildProcess(command(["sh", "-c", "exec 9>\(mark); sleep 3600 & echo >&9; wait"]))
        let run = Task { try await child.run() }
        // Opening waits for the child; the pipe ends when the last of its processes does.
        let reader = try await SystemThread.run { open(mark, O_RDONLY | O_CLOEXEC) }
        defer { close(reader) }
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 1)
        child.cancel()
        await #expect(throws: ChildProcess.Failure.cancelled) { try await run.value }
        let rest = try await SystemThread.run {
            var byte: UInt8 = 0
            return read(reader, &byte, 1)
        }
        #expect(rest == 0)
        let early = ChildProcess(command(["echo"]))
        early.cancel()
        await #expect(throws: ChildProcess.Failure.cancelled) { try await early.run() }
        let late = ChildProcess(command(["true"]))
        #expect(try await late.run().exit == .status(0))
        late.cancel()
    }

    @Test("a cancelled task kills it")
    func cancelledTask() async {
        let task = Task { try await ChildProcess(command(["sleep", "3600"])).run() }
        task.cancel()
        await #expect(throws: ChildProcess.Failure.cancelled) { try await task.value }
    }

    @Test(
        "the environment is a list of what passes",
        arguments: [
            ("PATH", true), ("LC_ALL", true), ("XDG_RUNTIME_DIR", true), ("WAYLAND_DISPLAY", true),
            ("LAB_PASSWORD", false),
            ("CREDENTIALS_DIRECTORY", false), ("NOTIFY_SOCKET", false), ("LISTEN_FDS", false), ("LD_PRELOAD", false),
        ])
    func environment(_ name: String, _ isInherited: Bool) {
        #expect(ChildEnvironment.isInherited(name) == isInherited)
    }
}
