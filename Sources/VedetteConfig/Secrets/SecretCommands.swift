// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import VedetteSystem

/// Runs the programs of `command:` secrets at the same time, with one deadline for all, so that many password managers
/// that hang take as long as one.
final class SecretCommands: Sendable {
    typealias Answer = Result<String, SecretOrigin.Problem>

    /// Programs that run at once.
    static let width = 16

    private struct State {
        var waiting: ArraySlice<[String]> = []
        var answers: [[String]: Answer] = [:]
        var running: [ObjectIdentifier: ChildProcess] = [:]
        var isCancelled = false
    }

    private let limit: Duration
    private let state = Mutex(State())

    init(limit: Duration = SecretCommand.timeLimit) { self.limit = limit }

    /// Kills every program; those that have not started do not start.
    func cancel() {
        let running = state.withLock { state in
            state.isCancelled = true
            return state.running.values
        }
        for process in running { process.cancel() }
    }

    /// Runs programs, and blocks the calling thread until each has ended; to be called once.
    func run(_ commands: [[String]]) -> [[String]: Answer] {
        let deadline = ContinuousClock.now + limit
        state.withLock { $0.waiting = commands[...] }
        let work: @Sendable () -> Void = {
            while let command = self.state.withLock({ $0.waiting.popFirst() }) {
                let answer = self.answer(to: command, by: deadline)
                self.state.withLock { $0.answers[command] = answer }
            }
        }
        let group = DispatchGroup()
        for _ in 1..<max(1, min(commands.count, SecretCommands.width)) {
            group.enter()
            let code = SystemThread.start {
                work()
                group.leave()
            }
            if code != 0 { group.leave() }
        }
        work()
        group.wait()
        return state.withLock { $0.answers }
    }

    private func answer(to command: [String], by deadline: ContinuousClock.Instant) -> Answer {
        let limit = max(.milliseconds(1), deadline - .now)
        let process = ChildProcess(SecretCommand.child(command, within: limit))
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.running[ObjectIdentifier(process)] = process }
            return state.isCancelled
        }
        if isCancelled { process.cancel() }
        defer { state.withLock { $0.running[ObjectIdentifier(process)] = nil } }
        return Result { () throws(SecretOrigin.Problem) in
            try SecretCommand.firstLine(of: process, command, within: self.limit)
        }
    }
}
