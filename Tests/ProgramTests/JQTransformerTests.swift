// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import vedette

@Suite("jq, as a child process with limits", .timeLimit(.minutes(10)))
struct JQTransformerTests {
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

    @Test("one output is the value, several become an array, none becomes an empty one")
    func outputs() async throws {
        #expect(try await transform(#"{"a": {"b": [1, 2]}}"#, ".a") == #"{"b":[1,2]}"#)
        #expect(try await transform(#"[{"a": "x\ny"}, {"a": 2}]"#, ".[]") == #"[{"a":"x\ny"},{"a":2}]"#)
        #expect(try await transform(#"[{"a": 1}]"#, ".[] | select(.a > 1)") == "[]")
        #expect(try await transform(#"{"a": 1}"#, "-1 + .a | [.]") == "[0]")
    }

    @Test("a wrong program fails with jq's message, when it is checked and when it runs")
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

    @Test("a body that is not complete JSON is not passed to jq, which would accept some of it")
    func wrongBody() async {
        let cases: [(String, Failure)] = [
            ("", .empty), ("<html><body>Login</body></html>", .wrongType), ("[1, 2", .truncated), ("{} {}", .malformed),
            ("[nan]", .malformed), ("7", .shape),
        ]
        for (body, failure) in cases { #expect(await error(body, ".")?.failure == failure, "\(body)") }
    }

    @Test("it has no environment, no arguments and no file")
    func alone() async throws {
        #expect(try await transform("[]", "[env, $ENV, input_filename]") == #"[{},{},"<stdin>"]"#)
        #expect(try await transform("[]", "[inputs]") == "[]")
        for program in [#"include "x"; ."#, " # c\n\timport \"x\" as $d {search: \"/etc\"}; $d", #"module {}; ."#] {
            #expect(await error("[]", program)?.detail.contains("'import'") == true, "\(program)")
            #expect(transformer.problem(of: program) != nil)
        }
        #expect(try await transform(#"{"import": 1}"#, ".import") == "1")
    }

    @Test("an endless program ends at a time limit")
    func endless() async {
        // On a busy machine the time limit may come before the limit on CPU time.
        #expect(await error("[]", "def f: f; f")?.failure == .timeout)
    }

    @Test("a program that takes all memory, and one that prints without end, end at their limits")
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

    @Test("an endless error message is cut, on one line and without control characters")
    func message() async {
        let error = await error("[]", #""a\nb\u001b[31m" + ("x" * 100000) | error"#)
        #expect((error?.detail.count ?? 0) < 400)
        #expect(error?.detail.contains("\n") == false && error?.detail.contains("\u{1b}") == false)
    }

    @Test("without jq, the error says what to install")
    func missing() async {
        let nowhere = JQTransformer(path: "/nonexistent:relative")
        let expected = "the option 'jq' needs the program jq, which is not there; install jq"
        #expect(nowhere.problem(of: ".") == expected)
        await #expect(throws: ReadError(.configuration, expected)) {
            try await nowhere.transform(Array("[]".utf8), with: ".")
        }
    }

    @Test("hung programs of many sources do not delay another source")
    func manySources() async throws {
        let hung = (0..<12).map { _ in Task { await error("[]", "def f: f; f") } }
        #expect(try await transform("[7]", ".[0] | [.]") == "[7]")
        for task in hung { task.cancel() }
        for task in hung { #expect(await task.value?.failure == .cancelled) }
    }

    @Test("cancelled polls end their children, however many there are")
    func cancellation() async {
        let tasks = (0..<6).map { _ in Task { await error("[]", "def f: f; f") } }
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value?.failure == .cancelled) }
    }
}
