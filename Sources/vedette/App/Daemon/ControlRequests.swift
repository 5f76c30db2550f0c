// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteEngine

/// Carries out the control requests of commands, beside reloads and pruning. A request is deleted when it is carried out;
/// one that fails stays and is tried at the next wake-up.
actor ControlRequests {
    private let app: App
    /// By the id of the request in progress.
    private var tasks: [Int64: Task<Void, Never>] = [:]

    init(_ app: App) { self.app = app }

    /// Carries out requests until its task is cancelled.
    func run() async {
        do throws(JournalError) {
            let wakes = try app.journal.controlWakes()
            for await _ in wakes { await startAll() }
        } catch {
            app.log.log(.error, "failed to watch for control requests: \(error.detail)")
        }
        for task in tasks.values { task.cancel() }
        for task in tasks.values { await task.value }
    }

    /// Carries out the requests that wait now, and returns when that is done.
    func carryOutWaiting() async {
        await startAll()
        for task in Array(tasks.values) { await task.value }
    }

    private func startAll() async {
        do throws(JournalError) {
            for request in try await app.journal.controlRequests() where tasks[request.id] == nil {
                // Another watcher carries it out, which may have to take the source or the sink first.
                guard await app.sharing?.carriesOut(request.request) ?? true, tasks[request.id] == nil else { continue }
                // Apart from the others, since `accept` waits for a poll under way.
                tasks[request.id] = Task {
                    await self.carryOut(request)
                    self.tasks[request.id] = nil
                }
            }
        } catch {
            app.log.log(error.logLevel, "failed to read control requests: \(error.detail)")
        }
    }

    private func carryOut(_ queued: QueuedRequest) async {
        do throws(JournalError) {
            switch queued.request {
            case .accept(let source): try await app.watcher.accept(source)
            case .poll(let source): await app.watcher.poll(source)
            case .acknowledge(let rule, let subject, let acknowledgement):
                try await app.watcher.acknowledge(rule: rule, subject, acknowledgement)
            case .reloadSilences: await app.watcher.silencesChanged()
            case .retry(let sink): try await app.dispatcher.retry(sink: sink)
            case .reloadQueue(let sink): await app.dispatcher.reread(sink: sink)
            case .unknown(let verb):
                app.log.log(.warning, "ignored the control request '\(verb)', which this version does not know")
            }
            guard !Task.isCancelled else { return }
            try await app.journal.finish(queued)
        } catch {
            app.log.log(error.logLevel, "failed to carry out a control request: \(error.detail)")
        }
    }
}
