// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Makes a wheel in a directory, and two lists of packages with its hash and with another one.
private let wheel = #"""
    import hashlib, os, sys, zipfile
    os.chdir(sys.argv[1])
    name = "demo-1.0-py3-none-any.whl"
    with zipfile.ZipFile(name, "w") as wheel:
        wheel.writestr("demo.py", "answer = 42\n")
        wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
        wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("demo-1.0.dist-info/RECORD", "")
    with open(name, "rb") as file: digest = hashlib.sha256(file.read()).hexdigest()
    for kind, value in (("right", digest), ("wrong", "0" * 64)):
        with open(kind + ".txt", "w") as list: list.write("demo @ file://%s/%s --hash=sha256:%s\n" % (os.getcwd(), name, value))
    """#

@Suite("Python packages of the tests", .timeLimit(.minutes(10)))
struct PythonPackagesTests {
    private func run(_ program: String, _ arguments: [String]) async throws -> (code: Int32, err: String) {
        let child = try Child(program, arguments)
        let code = await child.end(within: 240)
        return (code, child.lines(of: .err).joined(separator: "\n"))
    }

    @Test("a package whose hash is not the one of its list is not installed, and contrib/packages ends with 69")
    func hashes() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "vedette-wheel-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(try await run("/usr/bin/env", ["python3", "-c", wheel, directory.path]).code == 0)
        for (list, code) in [("right", Int32(0)), ("wrong", 69)] {
            let home = directory.appending(path: list).path
            let script = ". '\(Program.root.path)/contrib/packages'; need_python \"$0\" \"$1\""
            let result = try await run(
                "/bin/bash", ["-c", script, home, directory.appending(path: list + ".txt").path])
            #expect(result.code == code, "\(result.err)")
            #expect(result.err.contains("DO NOT MATCH THE HASHES") == (code != 0))
            let isThere = try await run(home + "/bin/python3", ["-c", "import demo"]).code == 0
            #expect(isThere == (code == 0))
        }
    }

    @Test("every package of every list has a hash", arguments: ["", "api/", "browser/", "systems/"])
    func lists(_ directory: String) throws {
        let file = Program.root.appending(path: "contrib/\(directory)python-packages.txt")
        let joined = try String(contentsOf: file, encoding: .utf8).replacing("\\\n", with: " ")
        let packages = joined.split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.allSatisfy(\.isWhitespace) }
        #expect(!packages.isEmpty)
        for package in packages { #expect(package.contains(" --hash=sha256:") && package.contains("==")) }
    }
}
