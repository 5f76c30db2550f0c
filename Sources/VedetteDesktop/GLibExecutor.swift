// SPDX-License-Identifier: Apache-2.0

import CNotify
import Glibc
import Synchronization
import VedetteSystem

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
        let code = SystemThread.start { self.run() }
        precondition(code == 0, "no thread for desktop notifications: \(String(cString: strerror(code)))")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        // GLib remembers this when the thread is not asleep yet.
        g_main_context_wakeup(context)
    }

    func checkIsolated() {
        precondition(g_main_context_is_owner(context) != 0, "not on the thread of desktop notifications")
    }

    func isIsolatingCurrentContext() -> Bool? { g_main_context_is_owner(context) != 0 }

    /// Delivers the signals that have arrived. Call it on the executor's thread.
    func dispatchPending() {
        while g_main_context_iteration(context, 0) != 0 {}
    }

    private func run() -> Never {
        // This comes before any other call: signals of the bus arrive in the context that was the thread's default when
        // they were subscribed to.
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
