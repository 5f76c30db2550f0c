// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteSystem

@testable import VedetteSinks

@Suite("command")
struct CommandTests {
    func sink(_ command: [String], _ more: [String: OptionValue] = [:]) throws -> any Sink {
        let services = SinkServices(fetcher: ScriptedFetcher(status: 200), clock: StillClock(), userAgent: "v")
        let options = ["command": OptionValue.list(command.map(OptionValue.text))].merging(more) { $1 }
        return try CommandKind.entry.make(Options(options))("run", services)
    }

    /// Runs a script that fails, so that its last line becomes the reason.
    func said(_ script: String, _ more: [String: OptionValue] = [:], _ message: Message = .of()) async throws -> String
    {
        let outcome = try await sink(["sh", "-c", script + "; exit 1", "sh", "$(id) `id` ; *"], more).deliver(message)
        return outcome.reason ?? "nothing"
    }

    @Test("the exit status decides the outcome")
    func statuses() async throws {
        #expect(try await sink(["true"]).deliver(.of()) == .delivered)
        let dead = try await sink(["sh", "-c", "echo first; echo why >&2; exit 3"]).deliver(.of())
        #expect(dead == .rejected(reason: "the command failed with exit status 3: why"))
        let later = try await sink(["sh", "-c", "exit 75"]).deliver(.of())
        #expect(later == .retry(reason: "the command asked for another attempt", after: nil))
        #expect(try await sink(["sh", "-c", "kill -9 $$"]).deliver(.of()).isRetry)
        for missing in [["/none/such"], ["sh", "-c", "exit 127"]] {
            guard case .paused = try await sink(missing).deliver(.of()) else {
                Issue.record("\(missing)")
                continue
            }
        }
    }

    @Test(
        "a program that could not be started for want of something is tried again; one that cannot be run pauses its sink"
    )
    func unstarted() {
        for code in [EMFILE, ENFILE, EAGAIN, ENOMEM, ETXTBSY] {
            let outcome = CommandSink.outcome(of: .cannotStart(code), within: .seconds(30))
            let words = String(cString: strerror(code))
            #expect(outcome == .retry(reason: "the command could not be started: \(words)", after: nil))
        }
        for code in [ENOENT, EACCES, ENOEXEC] {
            guard case .paused = CommandSink.outcome(of: .cannotStart(code), within: .seconds(30)) else {
                Issue.record("\(code)")
                continue
            }
        }
    }

    @Test(
        "the event is on standard input and in the environment; arguments are passed unchanged",
        arguments: hostileTitles)
    func given(_ title: String) async throws {
        let message = Message.of(.changed(title: title), title: title)
        let script = """
            import json, os, sys
            event = json.loads(sys.stdin.buffer.read())
            title = event["data"]["item"]["title"]
            assert os.environb[b"VEDETTE_NAME"] == title.split("\\0")[0].encode()[:32768].decode(errors="ignore").encode()
            assert os.environ["VEDETTE_TYPE"] == event["type"] and os.environ["VEDETTE_MESSAGE_ID"] == "msg_0199"
            assert os.environ["VEDETTE_FROM"] == "Starting" and os.environ["OWN"] == "x=y"
            assert sys.argv[1:] == ["$(id) `id` ; *", ""] and "HOME" in os.environ and os.getcwd() == "/"
            """
        let outcome = try await sink(
            ["python3", "-c", script, "$(id) `id` ; *", ""],
            ["environment": .map([("OWN", .text("x=y"))]), "directory": .text("/")]
        ).deliver(message)
        #expect(outcome == .delivered)
    }

    @Test("the variables have the change that the rule is about, its tags, counts and lines")
    func details() async throws {
        var message = Message.of()
        message.event.changes.append(FieldChange(field: "owner", from: "ann", to: "bob"))
        (message.field, message.tags, message.suppressed) = ("owner", ["ops", "lab"], 2)
        message.event.summary = Event.Summary(count: 3, lines: ["a: up", "b: down"])
        let script = """
            echo "$VEDETTE_FIELD $VEDETTE_FROM $VEDETTE_TO $VEDETTE_TAGS $VEDETTE_SUPPRESSED $VEDETTE_COUNT $VEDETTE_LINES" | tr '\\n' '|'
            """
        #expect(try await said(script, [:], message).hasSuffix(": owner ann bob ops,lab 2 3 a: up|b: down|"))
        #expect(try await said("echo ${VEDETTE_TAGS-none} ${VEDETTE_LINES-none}").hasSuffix(": none none"))
    }

    @Test("it inherits the variables of the list and no secret, and no descriptor; `environment` wins")
    func inherited() async throws {
        // A name of its own: all tests share one process, and what it starts inherits this.
        setenv("COMMAND_TEST_SECRET", "s3cret", 1)
        defer { unsetenv("COMMAND_TEST_SECRET") }
        // Not close-on-exec, as a careless parent leaves it.
        let stray = open("/dev/null", O_RDONLY)
        defer { close(stray) }
        let script = """
            import os
            assert "COMMAND_TEST_SECRET" not in os.environ, "a secret"
            assert os.environ["HOME"] == "/own" and "PATH" in os.environ, "HOME is " + os.environ["HOME"]
            open = [name for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name)]
            assert open == ["0", "1", "2"], open
            """
        let outcome = try await sink(
            ["python3", "-c", script], ["environment": .map([("HOME", .text("/own"))])]
        ).deliver(.of())
        #expect(outcome == .delivered)
    }

    @Test("a flood of output is cut, and control characters in it are escaped")
    func output() async throws {
        let flood = try await said("head -c 10000000 /dev/zero | tr '\\0' x")
        #expect(flood.utf8.count < 300 && flood.hasSuffix("…"))
        #expect(try await said("printf '\\033[2J'") == #"the command failed with exit status 1: \x1b[2J"#)
        #expect(try await said("exec <&-; echo $$ >/dev/null") == "the command failed with exit status 1")
    }

    @Test("a program that hangs is killed with its children at the time limit")
    func late() async throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "vedette-\(UUID().uuidString)").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        // The grandchild holds the pipe open for as long as it lives.
        let outcome = try await sink(
            ["sh", "-c", "exec 9>\(pipe); sleep 600 & echo >&9; wait"], ["timeout": .duration(.seconds(1))]
        ).deliver(.of())
        #expect(outcome == .retry(reason: "the command took longer than 1 s", after: nil))
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 1)
        var watched = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&watched, 1, 10_000) == 1 && watched.revents & Int16(POLLHUP) != 0)
        try FileManager.default.removeItem(atPath: pipe)
    }

    @Test("a cancelled delivery ends its program and stays pending")
    func cancelled() async throws {
        let sink = try sink(["sleep", "600"])
        let delivery = Task { await sink.deliver(.of()) }
        delivery.cancel()
        #expect(await delivery.value == .retry(reason: "stopped before the command ended", after: nil))
    }

    @Test("wrong options are refused with their names")
    func wrong() throws {
        let wrong: [(String, [String: OptionValue])] = [
            ("command", ["command": .list([])]), ("command", ["command": .list([.text("")])]),
            ("directory", ["directory": .text("tmp")]), ("timeout", ["timeout": .duration(.zero)]),
            ("environment", ["environment": .map([("VEDETTE_X", .text("1"))])]),
            ("environment", ["environment": .map([("A=B", .text("1"))])]),
        ]
        for (name, options) in wrong {
            let problem = try #require(throws: OptionProblem.self) { try sink(["true"], options) }
            #expect(problem.path.first == name)
        }
    }
}
