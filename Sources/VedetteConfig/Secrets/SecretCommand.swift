// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSystem

/// A program whose first line is a secret.
enum SecretCommand {
    /// For all programs, from the start of the first.
    static let timeLimit = Duration.seconds(10)

    /// Runs a program and returns the first line that it prints.
    static func firstLine(of arguments: [String], within limit: Duration) throws(SecretOrigin.Problem) -> String {
        try firstLine(of: ChildProcess(child(arguments, within: limit)), arguments, within: limit)
    }

    /// The program of a secret. What it prints to standard error is dropped, since it could hold the secret.
    static func child(_ arguments: [String], within limit: Duration) -> ChildCommand {
        var command = ChildCommand(arguments, timeLimit: limit)
        command.output = .init(SecretOrigin.maximumSize, .fails)
        return command
    }

    /// Runs a program and returns the first line that it prints. This blocks the calling thread.
    static func firstLine(
        of process: ChildProcess, _ arguments: [String], within limit: Duration
    ) throws(SecretOrigin.Problem) -> String {
        let name = "the command '\(arguments[0])'"
        let run: ChildProcess.Output
        do throws(ChildProcess.Failure) {
            run = try process.runBlocking()
        } catch {
            switch error {
            case .cannotStart(let code) where error.isTemporary:
                throw SecretOrigin.Problem(
                    detail: "\(name) could not be started: \(String(cString: strerror(code))); try again",
                    isTemporary: true)
            case .cannotStart(let code):
                throw SecretOrigin.Problem(
                    detail: "\(name) cannot be run: \(String(cString: strerror(code))); check its path and mode")
            case .timedOut, .tooMuchOutput, .cancelled:
                throw SecretOrigin.Problem(
                    detail: "\(name) did not end within \(limit.components.seconds) s, or printed too much; mend it")
            }
        }
        switch run.exit {
        case .status(0): break
        case .status(let status):
            throw SecretOrigin.Problem(detail: "\(name) failed with exit status \(status); run it by hand")
        case .signal(let signal):
            throw SecretOrigin.Problem(detail: "\(name) failed with signal \(signal); run it by hand")
        case .unknown: throw SecretOrigin.Problem(detail: "\(name) ended, but its exit status was lost; run it by hand")
        }
        guard let text = String(validating: run.output.prefix { $0 != 10 }, as: UTF8.self) else {
            throw SecretOrigin.Problem(detail: "\(name) printed no UTF-8")
        }
        return try SecretOrigin.line(text, "what \(name) printed")
    }
}
