// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import vedette

@Suite("jq, as a child that is bounded in everything", .timeLimit(.minutes(2)))
struct JQShaperTests {
    private let transformer = JQTransformer(path: "/usr/local/bin:/usr/bin:/bin")

    private func transform(_ json: String, _ program: String) async throws -> String {
        String(decoding: try await transformer.transform(Array(json.utf8), with: program), as: UTF8.self)
    }

    private func error(_ json: String, _ program: String) async -> ReadError? {
        do {
            _ = try await transform(json, program)
            return nil
        } catch {
            return error as? ReadError
        }
    }

    @Test("one output is the value, several are an array, none is an empty one")
    func outputs() async throws {
        #expect(try await transform(#"{"a": {"b": [1, 2]}}"#, ".a") == #"{"b":[1,2]}"#)
        #expect(try await transform(#"[{"a": "x\ny"}, {"a": 2}]"#, ".[]") == #"[{"a":"x\ny"},{"a":2}]"#)
        #expect(try await transform(#"[{"a": 1}]"#, ".[] | select(.a > 1)") == "[]")
        #expect(try await transform(#"{"a": 1}"#, "-1 + .a | [.]") == "[0]")
    }

    @Test("a program that is wrong is said in jq's words, when it is checked and when it runs")
    func wrongProgram() async {
        #expect(transformer.problem(of: ".a | map(.b)") == nil)
        #expect(transformer.problem(of: "def f: f; f") == nil)
        let open = transformer.problem(of: ".[")
        #expect(open?.hasPrefix("the jq program is not valid: syntax error, unexpected") == true, "\(open ?? "")")
        #expect(transformer.problem(of: "nope(1)")?.contains("nope/1 is not defined") == true)
        #expect(await error("[]", ".[")?.failure == .configuration)
        let shape = await error("[1]", ".a")
        #expect(shape?.failure == .shape)
        #expect(shape?.detail == #"jq cannot read this body: Cannot index array with string "a""#)
        #expect(await error("[1]", #""stop" | halt_error"#)?.detail == "jq cannot read this body: stop")
    }

    @Test("a body that is no complete JSON never comes to jq, which would take some of it")
    func wrongBody() async {
        let cases: [(String, Failure)] = [
            ("", .empty), ("<html><body>Login</body></html>", .wrongType), ("[1, 2", .truncated), ("{} {}", .malformed),
            ("[nan]", .malformed), ("7", .shape),
        ]
        for (body, failure) in cases { #expect(await error(body, ".")?.failure == failure, "\(body)") }
    }

    @Test("it sees no environment, no arguments, and no file")
    func alone() async throws {
        #expect(try await transform("[]", "[env, $ENV, input_filename]") == #"[{},{},"<stdin>"]"#)
        #expect(try await transform("[]", "[inputs]") == "[]")
        for program in [#"include "x"; ."#, " # c\n\timport \"x\" as $d {search: \"/etc\"}; $d", #"module {}; ."#] {
            #expect(await error("[]", program)?.detail.contains("'import'") == true, "\(program)")
            #expect(transformer.problem(of: program) != nil)
        }
        #expect(try await transform(#"{"import": 1}"#, ".import") == "1")
    }

    @Test("an endless program ends at a limit of time")
    func endless() async {
        // On a busy machine its time on the clock may be over first.
        #expect(await error("[]", "def f: f; f")?.failure == .timeout)
    }

    @Test("a program that wants all memory, and one that puts out without end, end at their limits")
    func greedy() async {
        #expect(
            await error("[]", #""x" * 1000000 | [limit(1000; repeat(.))] | map(. + "y") | length"#)?.failure
                == .tooLarge)
        #expect(
            await error("[]", #"range(1e9) | "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx""#)?.failure
                == .tooLarge)
    }

    @Test("a program that does not read its input, and an input larger than any buffer, both work")
    func streams() async throws {
        let long = "[" + String(repeating: "\"0123456789abcdef\",", count: 200_000) + "1]"
        #expect(try await transform(long, "length | [.]") == "[200001]")
        #expect(try await transform(long, ".") == long)
        #expect(await error(long, ".[")?.failure == .configuration)
    }

    @Test("a message without end is read to its limit, on one line and without control characters")
    func message() async {
        let error = await error("[]", #""a\nb\u001b[31m" + ("x" * 100000) | error"#)
        #expect((error?.detail.count ?? 0) < 400)
        #expect(error?.detail.contains("\n") == false && error?.detail.contains("\u{1b}") == false)
    }

    @Test("without the program, the error says what to install")
    func missing() async {
        let nowhere = JQTransformer(path: "/nonexistent:relative")
        let expected = "the option 'jq' needs the program jq, which is not there; install jq"
        #expect(nowhere.problem(of: ".") == expected)
        await #expect(throws: ReadError(.configuration, expected)) {
            try await nowhere.transform(Array("[]".utf8), with: ".")
        }
    }

    @Test("a cancelled poll ends its child, and one that still waits never starts one")
    func cancellation() async {
        let tasks = (0..<6).map { _ in Task { await error("[]", "def f: f; f") } }
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value?.failure == .cancelled) }
    }
}

@Suite("A bounded child", .timeLimit(.minutes(1)))
struct BoundedChildTests {
    private func run(_ child: BoundedChild, _ arguments: [String], most: Int = 1 << 20) async -> Result<
        [UInt8], any Error
    > {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let result = Result {
                    try child.run(arguments, input: Array("abc".utf8), within: .seconds(3600), most: most).out
                }
                continuation.resume(returning: result)
            }
        }
    }

    @Test(
        "cancelling ends it and its own children while it runs; before, it does not begin; afterwards, nothing happens")
    func cancel() async throws {
        let mark = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: mark) }
        let child = BoundedChild()
        async let result = run(child, ["/bin/sh", "-c", "/bin/sleep 3600 & : > \(mark); wait"])
        while !FileManager.default.fileExists(atPath: mark) { await Task.yield() }
        child.cancel()
        // Its sleeping child holds the output open: only its end as well lets this go on.
        let ended = await result
        #expect(throws: BoundedChild.Problem.self) { try ended.get() }
        let early = BoundedChild()
        early.cancel()
        await #expect(throws: BoundedChild.Problem.self) { try await run(early, ["/bin/echo"]).get() }
        let late = BoundedChild()
        #expect(try await run(late, ["/bin/cat"]).get() == Array("abc".utf8))
        late.cancel()
    }

    @Test("it has its three streams and no other descriptor, and no environment")
    func alone() async throws {
        // Not close-on-exec, as a careless parent leaves it.
        let stray = open("/dev/null", O_RDONLY)
        defer { close(stray) }
        let listed = try await run(BoundedChild(), ["/bin/ls", "/proc/self/fd"]).get()
        // The fourth is the directory that ls reads.
        #expect(String(decoding: listed, as: UTF8.self).split(separator: "\n") == ["0", "1", "2", "3"])
        #expect(try await run(BoundedChild(), ["/usr/bin/env"]).get().isEmpty)
    }

    @Test("what puts out more than it may, and what is not there, are problems")
    func problems() async {
        await #expect(throws: BoundedChild.Problem.self) {
            try await run(BoundedChild(), ["/usr/bin/yes"], most: 1000).get()
        }
        await #expect(throws: BoundedChild.Problem.self) { try await run(BoundedChild(), ["/nonexistent"]).get() }
    }
}
