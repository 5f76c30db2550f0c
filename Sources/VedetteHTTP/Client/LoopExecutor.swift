// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import Synchronization
import VedetteCore
import VedetteSystem

/// The thread of the HTTP client: it runs the actor's jobs, drives the transfers, and sleeps in the multi handle.
///
/// It is also a task executor. A task that prefers it resumes here after a fetch; any other task resumes on the global pool
/// first and hops back, which costs two thread switches per request.
///
/// After `stop` it still runs jobs, for actors and tasks that share the thread; `end` ends it.
///
/// `@unchecked Sendable`: `shared` is behind a mutex; `local`, `timers`, `extraSockets` and `drive` are used by the loop's thread
/// alone (`drive` is set before it starts; what enters or cancels a sleep prefers this executor). Other threads use `multi` only for
/// `curl_multi_wakeup`, which any thread may call (curl_multi_wakeup(3)), and only under the mutex while `isAsleep` tells that the
/// loop is in `curl_multi_poll`.
final class LoopExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private enum Stage { case running, stopping, parked, ending }

    /// Rounds of jobs before the transfers are driven again.
    private static let maximumRounds = 64

    private struct Shared {
        var jobs: [UnownedJob] = []
        var isAsleep = false
        var stage = Stage.running
        var stopped: (@Sendable () -> Void)?
    }

    private let multi: UnsafeMutableRawPointer
    private let shared = Mutex(Shared())
    /// Wakes the thread after the multi handle was freed.
    private let semaphore: UnsafeMutablePointer<sem_t>
    private let thread = Atomic<pthread_t>(0)
    private var local: [UnownedJob] = []
    private var timers = LoopTimers()
    /// Sockets that wake the loop besides libcurl's own.
    var extraSockets: [curl_waitfd] = []
    /// Drives the transfers; returns how long the loop may sleep, in milliseconds.
    private var drive: () -> Int32 = { 1000 }

    init(multi: UnsafeMutableRawPointer) {
        self.multi = multi
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Starts the thread.
    ///
    /// - Returns: false when the system gives no thread.
    func start(_ drive: @escaping @Sendable () -> Int32) -> Bool {
        self.drive = drive
        return SystemThread.start { self.run() } == 0
    }

    /// Stops driving transfers. After its last job the loop no longer uses the multi handle, and calls `stopped` on its thread.
    func stop(_ stopped: @escaping @Sendable () -> Void) {
        shared.withLock {
            guard $0.stage == .running else { return }
            ($0.stage, $0.stopped) = (.stopping, stopped)
            wake(&$0)
        }
    }

    /// Ends the thread of a stopped loop.
    func end() {
        shared.withLock {
            $0.stage = .ending
            wake(&$0)
        }
    }

    var isOnLoop: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    func nextTimer() -> LoopTimers.ID { timers.nextID() }

    func add(_ id: LoopTimers.ID, until deadline: BootTime, _ continuation: UnsafeContinuation<Void, Never>) {
        checkIsolated()
        timers.add(id, until: deadline, continuation)
    }

    func cancelTimer(_ id: LoopTimers.ID) { timers.cancel(id) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isOnLoop {
            local.append(job)
            return
        }
        shared.withLock { shared in
            shared.jobs.append(job)
            wake(&shared)
        }
    }

    private func wake(_ shared: inout Shared) {
        guard shared.isAsleep else { return }
        shared.isAsleep = false
        switch shared.stage {
        case .running, .stopping: curl_multi_wakeup(multi)
        case .parked, .ending: sem_post(semaphore)
        }
    }

    /// Lets C callbacks on this thread assume the actor's isolation outside any job.
    func checkIsolated() { precondition(isOnLoop, "not on the HTTP client's thread") }

    func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    // MARK: The thread

    private func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        while runJobs() == .running {
            let longest = min(drive(), wakeSleepers())
            guard local.isEmpty, mayPause() else { continue }
            extraSockets.withUnsafeMutableBufferPointer {
                _ = curl_multi_poll(multi, $0.baseAddress, UInt32($0.count), longest, nil)
            }
            shared.withLock { $0.isAsleep = false }
        }
        drive = { 0 }
        park()
    }

    private func park() {
        let stopped = shared.withLock { shared in
            if shared.stage == .stopping { shared.stage = .parked }
            return shared.stopped.take()
        }
        stopped?()
        while runJobs() == .parked {
            let longest = wakeSleepers()
            guard local.isEmpty, mayPause() else { continue }
            var end = timespec()
            clock_gettime(CLOCK_REALTIME, &end)
            end.tv_sec += Int(longest) / 1000 + 1
            sem_timedwait(semaphore, &end)
            shared.withLock { $0.isAsleep = false }
        }
    }

    /// Ends the sleeps whose time has come.
    /// - Returns: how long the thread may sleep, in milliseconds.
    private func wakeSleepers() -> Int32 {
        Int32(timers.wake(at: BootTime(milliseconds: KernelClock.boot.milliseconds)))
    }

    private func mayPause() -> Bool {
        shared.withLock { shared in
            shared.isAsleep = shared.jobs.isEmpty && (shared.stage == .running || shared.stage == .parked)
            return shared.isAsleep
        }
    }

    /// Runs jobs until there are none, or until the transfers must be driven again. Each round takes the jobs of other
    /// threads too, so that jobs which enqueue further jobs without end delay none of them.
    private func runJobs() -> Stage {
        let (serial, task) = (asUnownedSerialExecutor(), asUnownedTaskExecutor())
        var batch: [UnownedJob] = []
        var rounds = 0
        while true {
            swap(&batch, &local)
            let stage = shared.withLock { shared in
                if batch.isEmpty {
                    swap(&batch, &shared.jobs)
                } else if !shared.jobs.isEmpty {
                    batch += shared.jobs
                    shared.jobs.removeAll(keepingCapacity: true)
                }
                return shared.stage
            }
            if batch.isEmpty { return stage }
            for job in batch { job.runSynchronously(isolatedTo: serial, taskExecutor: task) }
            batch.removeAll(keepingCapacity: true)
            rounds += 1
            if rounds == LoopExecutor.maximumRounds, stage == .running { return stage }
        }
    }
}
