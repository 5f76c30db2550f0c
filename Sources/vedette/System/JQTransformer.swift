// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import VedetteCore
import VedetteSources

/// Runs the `jq` program over bodies, as a child process that is bounded in time, memory and output and sees nothing of the
/// machine: no environment, no modules, no file.
struct JQTransformer: BodyTransformer {
    /// Seconds of CPU for one body.
    static let mostSeconds = 5
    static let wait = Duration.seconds(10)
    /// Bytes of address space.
    static let memory = 512 << 20
    /// Bytes of output.
    static let mostOutput = 32 << 20
    /// Bytes of a program.
    static let longest = 64 << 10

    private static let places = ["/usr/local/bin", "/usr/bin", "/bin"]
    /// Each waits for its child on a thread of its own.
    private static let threads: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        return queue
    }()

    private let directories: [String]

    /// - Parameter path: where programs are looked for, as `$PATH` has it.
    init(path: String? = ProcessInfo.processInfo.environment["PATH"]) {
        let directories = (path ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        self.directories = path == nil ? JQTransformer.places : directories
    }

    func transform(_ body: [UInt8], with program: String) async throws(ReadError) -> [UInt8] {
        var body = body
        try JSONBody.check(&body)
        let command = try command(program)
        let output = try await run(command, input: body)
        return JQOutput.value(output.out)
    }

    /// What is wrong with a program, as one sentence; nil when jq takes it. It is compiled, and given nothing to run on.
    func problem(of program: String) -> String? {
        do throws(ReadError) {
            let child = BoundedChild()
            _ = try JQTransformer.judge(child, try command(program), input: [])
            return nil
        } catch {
            return error.detail
        }
    }

    private func command(_ program: String) throws(ReadError) -> [String] {
        guard !JQProgram.readsFiles(program) else {
            throw ReadError(.configuration, "a jq program here cannot 'import' or 'include'; write all of it in 'jq'")
        }
        guard program.utf8.count <= JQTransformer.longest, !program.utf8.contains(0) else {
            throw ReadError(.configuration, "a jq program is at most \(JQTransformer.longest >> 10) KiB of text")
        }
        let jq = try find("jq", remedy: "install jq")
        let prlimit = try find("prlimit", remedy: "install util-linux")
        let limits = ["--cpu=\(JQTransformer.mostSeconds)", "--as=\(JQTransformer.memory)", "--core=0", "--fsize=0"]
        // The blank keeps a program that begins with a minus sign from being read as an option.
        return [prlimit] + limits + [jq, "-c", " " + program]
    }

    private func find(_ name: String, remedy: String) throws(ReadError) -> String {
        let found = directories.lazy.map { $0 + "/" + name }.first { access($0, X_OK) == 0 }
        guard let found else {
            throw ReadError(.configuration, "the option 'jq' needs the program \(name), which is not there; \(remedy)")
        }
        return found
    }

    private func run(_ command: [String], input: [UInt8]) async throws(ReadError) -> BoundedChild.Output {
        let child = BoundedChild()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                JQTransformer.threads.addOperation {
                    continuation.resume(returning: JQTransformer.result(child, command, input: input))
                }
            }
        } onCancel: {
            child.cancel()
        }
        return try result.get()
    }

    private static func result(
        _ child: BoundedChild, _ command: [String], input: [UInt8]
    ) -> Result<BoundedChild.Output, ReadError> {
        Result { () throws(ReadError) in try judge(child, command, input: input) }
    }

    private static func judge(
        _ child: BoundedChild, _ command: [String], input: [UInt8]
    ) throws(ReadError) -> BoundedChild.Output {
        let output: BoundedChild.Output
        do throws(BoundedChild.Problem) {
            output = try child.run(command, input: input, within: wait, most: mostOutput)
        } catch {
            throw ReadError(error)
        }
        if let problem = JQOutput.problem(of: output) { throw problem }
        return output
    }
}

extension ReadError {
    fileprivate init(_ problem: BoundedChild.Problem) {
        switch problem {
        case .cannotRun(let code):
            self.init(.configuration, "jq cannot be run: \(String(cString: strerror(code)))")
        case .tooLong:
            self.init(
                .timeout, "jq did not end within \(JQTransformer.wait.components.seconds) s; make the program simpler")
        case .tooMuch:
            self.init(.tooLarge, "jq put out more than \(JQTransformer.mostOutput >> 20) MiB; select less")
        case .cancelled: self.init(.cancelled, "the poll was cancelled")
        }
    }
}
