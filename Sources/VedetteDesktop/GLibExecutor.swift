// SPDX-License-Identifier: Apache-2.0

import CNotify
import Glibc
import Synchronization

/// An actor's executor that is the thread of a GMainContext: the actor's jobs and GLib's callbacks run on the one
/// thread, so a callback may enter the actor with `assumeIsolated`. It lives until the process ends.
final class GLibExecutor: SerialExecutor {
    /// Iterated by this thread alone; waking it is safe from any thread (g_main_context_wakeup).
    private nonisolated(unsafe) let context: OpaquePointer
    private let jobs = Mutex<[UnownedJob]>([])

    init() {
        context = g_main_context_new()
    }

    func start() {
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<GLibExecutor>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(result == 0, "no thread for desktop notifications: \(String(cString: strerror(result)))")
        pthread_detach(thread)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        // Remembered when the thread is not asleep yet.
        g_main_context_wakeup(context)
    }

    func checkIsolated() {
        precondition(g_main_context_is_owner(context) != 0, "not on the thread of desktop notifications")
    }

    func isIsolatingCurrentContext() -> Bool? { g_main_context_is_owner(context) != 0 }

    private func run() -> Never {
        // Before any other call: signals of the bus arrive in the context that was the thread's own when they were
        // asked for.
        g_main_context_push_thread_default(context)
        while true {
            for job in takeJobs() { job.runSynchronously(on: asUnownedSerialExecutor()) }
            g_main_context_iteration(context, 1)
        }
    }

    private func takeJobs() -> [UnownedJob] {
        jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
    }
}
