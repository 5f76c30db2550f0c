// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteCore
import VedetteSources
import VedetteSystem

/// Runs the `jq` program over bodies, as a child process with limits on time, memory and output and without environment,
/// modules or files. Each run has a thread of its own and a source has one run at a time, so a slow program delays its own
/// source alone.
struct JQTransformer: BodyTransformer {
    /// Seconds of CPU for one body.
    static let cpuSeconds = 5
    static let timeLimit = Duration.seconds(10)
    /// Bytes of address space.
    static let addressSpace = 512 << 20
    /// Bytes of output.
    static let outputLimit = 32 << 20
    /// Bytes of a program.
    static let programLimit = 64 << 10

    private static let defaultDirectories = ["/usr/local/bin", "/usr/bin", "/bin"]

    private let directories: [String]

    /// - Parameter path: where programs are looked for, as `$PATH` has it.
    init(path: String? = ProcessInfo.processInfo.environment["PATH"]) {
        let directories = (path ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        self.directories = path == nil ? JQTransformer.defaultDirectories : directories
    }

    func transform(_ body: [UInt8], with program: String) async throws(ReadError) -> [UInt8] {
        var body = body
        try JSONBody.check(&body)
        let child = ChildProcess(try command(program, input: body))
        let run: ChildProcess.Output
        do throws(ChildProcess.Failure) { run = try await child.run() } catch { throw ReadError(error) }
        if let problem = JQOutput.problem(of: run) { throw problem }
        return JQOutput.value(run.output)
    }

    /// Returns the error of a program as one sentence; nil when jq accepts it. The program is compiled and gets no input.
    /// This blocks the calling thread.
    func problem(of program: String) -> String? {
        do throws(ReadError) {
            let child = ChildProcess(try command(program, input: []))
            let run: ChildProcess.Output
            do throws(ChildProcess.Failure) { run = try child.runBlocking() } catch { throw ReadError(error) }
            return JQOutput.problem(of: run)?.detail
        } catch {
            return error.detail
        }
    }

    /// The most programs that `problems` compiles: jq takes about 25 ms for each.
    private static let mostChecked = 100

    /// Returns what is wrong with the programs of sources, each fault once, with the names of its sources. This blocks the
    /// calling thread.
    func problems(of sources: [Source]) -> [String] {
        let programs = Dictionary(grouping: sources.filter { $0.kind.jqProgram != nil }) { $0.kind.jqProgram ?? "" }
        let some = programs.sorted { $0.key < $1.key }.prefix(JQTransformer.mostChecked)
        let faults = some.compactMap { program, users in
            problem(of: program).map { ($0, users.map(\.name)) }
        }
        return Dictionary(faults) { $0 + $1 }.sorted { $0.key < $1.key }.map { problem, names in
            let others = names.count > 3 ? " and \(names.count - 3) more" : ""
            let first = names.sorted().prefix(3).joined(separator: ", ")
            return "\(names.count == 1 ? "source" : "sources") \(first)\(others): \(problem)"
        }
    }

    private func command(_ program: String, input: [UInt8]) throws(ReadError) -> ChildCommand {
        guard !JQProgram.readsFiles(program) else {
            throw ReadError(.configuration, "a jq program here cannot 'import' or 'include'; write all of it in 'jq'")
        }
        guard program.utf8.count <= JQTransformer.programLimit, !program.utf8.contains(0) else {
            throw ReadError(.configuration, "a jq program is at most \(JQTransformer.programLimit >> 10) KiB of text")
        }
        let jq = try find("jq", remedy: "install jq")
        let prlimit = try find("prlimit", remedy: "install util-linux")
        let limits = [
            "--cpu=\(JQTransformer.cpuSeconds)", "--as=\(JQTransformer.addressSpace)", "--core=0", "--fsize=0",
        ]
        // The blank keeps a program that begins with a minus sign from being read as an option.
        var command = ChildCommand(
            [prlimit] + limits + [jq, "-c", " " + program], timeLimit: JQTransformer.timeLimit)
        (command.environment, command.input) = ([:], input)
        command.output = .init(JQTransformer.outputLimit, .fails)
        return command
    }

    private func find(_ name: String, remedy: String) throws(ReadError) -> String {
        let found = directories.lazy.map { $0 + "/" + name }.first { access($0, X_OK) == 0 }
        guard let found else {
            throw ReadError(.configuration, "the option 'jq' needs the program \(name), which is not there; \(remedy)")
        }
        return found
    }
}

extension ReadError {
    fileprivate init(_ failure: ChildProcess.Failure) {
        switch failure {
        case .cannotStart(let code) where failure.isTemporary:
            self.init(.command, "jq could not be started: \(String(cString: strerror(code)))")
        case .cannotStart(let code):
            self.init(.configuration, "jq cannot be run: \(String(cString: strerror(code)))")
        case .timedOut:
            self.init(
                .timeout,
                "jq did not end within \(JQTransformer.timeLimit.components.seconds) s; make the program simpler")
        case .tooMuchOutput:
            self.init(.tooLarge, "jq printed more than \(JQTransformer.outputLimit >> 20) MiB; select less")
        case .cancelled: self.init(.cancelled, "the poll was cancelled")
        }
    }
}
