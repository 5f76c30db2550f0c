// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import Synchronization

/// The one thread of the HTTP client: it runs the actor's jobs, drives the transfers, and sleeps in the multi handle.
///
/// `@unchecked Sendable`: `shared` is behind a mutex; `local` and `drive` are touched by the loop's thread alone;
/// `multi` is used elsewhere for `curl_multi_wakeup` only, which may be called from any thread (curl_multi_wakeup(3)).
final class LoopExecutor: SerialExecutor, @unchecked Sendable {
    private struct Shared {
        var jobs: [UnownedJob] = []
        var isAsleep = false
        var isStopping = false
        var thread: pthread_t?
        var stopped: (@Sendable () -> Void)?
    }

    private let multi: UnsafeMutableRawPointer
    private let shared = Mutex(Shared())
    private var local: [UnownedJob] = []
    /// Moves the transfers on; returns the longest sleep in milliseconds.
    private var drive: () -> Int32 = { 1000 }

    init(multi: UnsafeMutableRawPointer) { self.multi = multi }

    /// - Returns: false when no thread could be made.
    func start(_ drive: @escaping @Sendable () -> Int32) -> Bool {
        self.drive = drive
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let executor = Unmanaged<LoopExecutor>.fromOpaque(context).takeRetainedValue()
                executor.run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// The loop ends once its last job has run; then `stopped` is called on its thread.
    func stop(_ stopped: @escaping @Sendable () -> Void) {
        shared.withLock {
            $0.isStopping = true
            $0.stopped = stopped
        }
        curl_multi_wakeup(multi)
    }

    var isOnLoop: Bool {
        let thread = shared.withLock { $0.thread }
        return thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = shared.withLock { shared in
            shared.jobs.append(job)
            defer { shared.isAsleep = false }
            return shared.isAsleep
        }
        if mustWake { curl_multi_wakeup(multi) }
    }

    /// Lets C callbacks on this thread assume the actor's isolation outside any job.
    func checkIsolated() { precondition(isOnLoop, "not on the HTTP client's thread") }

    func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    private func run() {
        shared.withLock { $0.thread = pthread_self() }
        while true {
            let isStopping = runJobs()
            if isStopping { break }
            let longest = drive()
            let maySleep = shared.withLock { shared in
                shared.isAsleep = shared.jobs.isEmpty && !shared.isStopping
                return shared.isAsleep
            }
            guard maySleep else { continue }
            curl_multi_poll(multi, nil, 0, longest, nil)
            shared.withLock { $0.isAsleep = false }
        }
        shared.withLock { $0.stopped }?()
    }

    /// Runs jobs until there are none; true when the loop shall end.
    private func runJobs() -> Bool {
        let executor = asUnownedSerialExecutor()
        while true {
            let isStopping = shared.withLock { shared in
                swap(&shared.jobs, &local)
                return shared.isStopping && local.isEmpty
            }
            if local.isEmpty { return isStopping }
            for job in local { job.runSynchronously(on: executor) }
            local.removeAll(keepingCapacity: true)
        }
    }
}
