// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSystem

/// Runs the command of a source and returns its standard output as the body. The program is started without a shell, with the
/// inherited variables that are no secrets, and with limits on time, memory and output.
struct CommandFetcher {
    /// Bytes of data that a command may allocate (RLIMIT_DATA of getrlimit(2), which reservations do not count for).
    static let memoryLimit = 1 << 30

    private static let errorLimit = ChildCommand.OutputLimit(4096, .dropsBeginning)

    /// - Parameter arguments: the program first.
    func fetch(_ arguments: [String], _ request: Request) async throws(FetchError) -> Response {
        let limits = request.limits
        var command = ChildCommand(
            ["prlimit", "--data=\(CommandFetcher.memoryLimit)", "--core=0", "--"] + arguments, timeLimit: limits.total)
        command.output = .init(limits.received, .fails)
        command.errorOutput = CommandFetcher.errorLimit
        let program = arguments.first ?? ""
        let run: ChildProcess.Output
        do throws(ChildProcess.Failure) {
            run = try await ChildProcess(command).run()
        } catch {
            throw CommandFetcher.error(error, program, limits)
        }
        guard run.exit == .status(0) else {
            throw FetchError(.command, CommandFetcher.sentence(program, run))
        }
        return Response(run.output, to: request)
    }

    private static func error(_ failure: ChildProcess.Failure, _ program: String, _ limits: FetchLimits) -> FetchError {
        switch failure {
        case .cannotStart(let code):
            FetchError(
                .command,
                "\(program) \(failure.isTemporary ? "could not be started" : "cannot be run"): "
                    + String(cString: strerror(code)))
        case .timedOut: FetchError(.command, "\(program) did not end within \(limits.total.components.seconds) s")
        case .tooMuchOutput: FetchError(.tooLarge, "\(program) printed more than \(limits.received) bytes")
        case .cancelled: FetchError(.cancelled, "the poll was cancelled")
        }
    }

    private static func sentence(_ program: String, _ run: ChildProcess.Output) -> String {
        let end =
            switch run.exit {
            case .status(let status): "failed with exit status \(status)"
            case .signal(let signal): "was ended by signal \(signal)"
            case .unknown: "ended, but its exit status was lost"
            }
        let words = run.errorOutput.split(separator: 10).last.map { String(decoding: $0.prefix(300), as: UTF8.self) }
        return "\(program) \(end)" + (words.map { ": \($0.trimmed())" } ?? "")
    }
}
