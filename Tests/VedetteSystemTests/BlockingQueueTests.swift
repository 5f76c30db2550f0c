// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization
import Testing

@testable import VedetteSystem

@Suite("A queue of blocking calls", .timeLimit(.minutes(10)))
struct BlockingQueueTests {
    /// A destination that hangs until it is opened.
    final class Gate: Sendable {
        private let ends: [Int32]

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            self.ends = ends
        }

        func open() { _ = write(ends[1], [1], 1) }

        func pass() {
            var byte: UInt8 = 0
            _ = read(ends[0], &byte, 1)
        }

        deinit { for end in ends { close(end) } }
    }

    @Test("calls are made in order, one at a time, and each returns its result")
    func order() async throws {
        let queue = BlockingQueue(capacity: 1000)
        let made = Mutex<[Int]>([])
        for number in 0..<100 {
            let result = try await queue.run {
                made.withLock { $0.append(number) }
                return number * 2
            }
            #expect(result == number * 2)
        }
        #expect(made.withLock { $0 } == Array(0..<100))
    }

    @Test("a destination that hangs delays no other, however many wait for it, and those who wait can be cancelled")
    func hung() async throws {
        let (gate, hung, other) = (try Gate(), BlockingQueue(), BlockingQueue())
        let waiting = (0..<40).map { _ in Task { try await hung.run { gate.pass() } } }
        #expect(try await other.run { 7 } == 7)
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: BlockingQueue.Refusal.cancelled) { try await task.value } }
        // Only the call that had begun is still there.
        gate.open()
        #expect(try await hung.run { 8 } == 8)
    }

    @Test("a call that takes too long, and those behind it, are late; one that a busy machine has not begun is not")
    func late() async throws {
        let (gate, hung, limit) = (try Gate(), BlockingQueue(), Duration.milliseconds(300))
        let start = try Gate()
        let delayed = BlockingQueue(capacity: 1) { body in
            SystemThread.start {
                start.pass()
                body()
            }
        }
        let waiting = Task { try await delayed.run(within: limit) { 7 } }
        let calls = (0..<2).map { _ in Task { try await hung.run(within: limit) { gate.pass() } } }
        for call in calls { await #expect(throws: BlockingQueue.Refusal.late) { try await call.value } }
        // By now the time of the delayed one is over, too.
        start.open()
        #expect(try await waiting.value == 7)
        gate.open()
        gate.open()
    }

    @Test("beyond its capacity a queue refuses calls")
    func full() async throws {
        let queue = BlockingQueue(capacity: 0)
        await #expect(throws: BlockingQueue.Refusal.full) { try await queue.run {} }
    }

    /// Blocks a thread of its own where the caller does.
    private actor Starter {
        final class Executor: SerialExecutor {
            private let queue = DispatchQueue(label: "blocking queue tests")

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }

        private let executor = Executor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func run(_ calls: BlockingQueue) async throws { try await calls.run {} }
    }

    @Test("when no thread can be started, the calls that came meanwhile are refused too, and a later one is made")
    func noThread() async throws {
        let attempts = Mutex(0)
        let (gate, starter) = (try Gate(), Starter())
        let queue = BlockingQueue(capacity: 2) { body in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            guard attempt == 1 else { return SystemThread.start(body) }
            gate.pass()
            return EAGAIN
        }
        let first = Task { try await starter.run(queue) }
        while attempts.withLock({ $0 }) == 0 { await Task.yield() }
        let refusals = await withTaskGroup(of: BlockingQueue.Refusal?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do throws(BlockingQueue.Refusal) {
                        try await queue.run {}
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            // The one that finds the queue full shows that the other one is in it.
            var refusals = [await group.next() ?? nil]
            gate.open()
            refusals.append(await group.next() ?? nil)
            return refusals
        }
        #expect(refusals == [.full, .noThread(EAGAIN)])
        await #expect(throws: BlockingQueue.Refusal.noThread(EAGAIN)) { try await first.value }
        #expect(try await queue.run { 9 } == 9)
    }

    @Test("a call that blocks is not made where no thread can be started for it")
    func noThreadForCall() async throws {
        await #expect(throws: SystemThread.Unavailable(code: EAGAIN)) {
            try await SystemThread.run(startedBy: { _ in EAGAIN }, { Issue.record("it was made") })
        }
    }
}
