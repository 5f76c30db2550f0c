// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport
@testable import VedetteCore

@Suite("Scheduling")
struct SchedulingTests {
    @Test("the scheduler starts what a sorted array would", arguments: 1...20)
    func scheduler(seed: UInt64) {
        var dice = SplitMix64(seed)
        var scheduler = DueQueue()
        var model: [Int: Int64] = [:]
        for _ in 0..<500 {
            let source = Int.random(in: 0..<40, using: &dice)
            switch Int.random(in: 0..<4, using: &dice) {
            case 0, 1:
                let due = Int64.random(in: 0..<1000, using: &dice)
                scheduler.schedule(source, at: BootTime(milliseconds: due))
                model[source] = due
            case 2:
                scheduler.remove(source)
                model[source] = nil
            default:
                let now = Int64.random(in: 0..<1000, using: &dice)
                let started = scheduler.startNext(at: BootTime(milliseconds: now))
                let earliest = model.values.min()
                #expect((started != nil) == (earliest.map { $0 <= now } ?? false))
                if let started {
                    #expect(model[started] == earliest)
                    model[started] = nil
                }
            }
            #expect(scheduler.next?.milliseconds == model.values.min())
            #expect(scheduler.due(of: source)?.milliseconds == model[source])
        }
    }

    @Test("sources that are due at the same time start in the order of the configuration")
    func equalTimes() {
        var queue = DueQueue()
        let now = BootTime(milliseconds: 5)
        for source in [3, 1, 4, 0, 2] { queue.schedule(source, at: now) }
        #expect((0..<5).map { _ in queue.startNext(at: now) } == [0, 1, 2, 3, 4])
    }

    /// A poll that is under way.
    private struct End: Comparable {
        var time: Int64
        var source: Int

        static func < (a: End, b: End) -> Bool { (a.time, a.source) < (b.time, b.source) }
    }

    @Test(
        "of 100,000 sources over a day none is left out; with 64 slots the first polls take three minutes, and later ones are not late"
    )
    func day() {
        var (dice, queue, ends) = (SplitMix64(1), DueQueue(), Heap<End>())
        let (count, slots, every) = (100_000, 64, PollInterval(every: .seconds(12 * 3600)))
        for source in 0..<count { queue.schedule(source, at: BootTime(milliseconds: 0)) }
        var polls = [Int](repeating: 0, count: count)
        var (now, busy) = (Int64(0), 0)
        var (firstLateness, laterLateness) = (Int64(0), Int64(0))
        while now < 86_400_000 {
            while busy < slots, let due = queue.next?.milliseconds,
                let source = queue.startNext(at: BootTime(milliseconds: now))
            {
                if polls[source] == 0 {
                    firstLateness = max(firstLateness, now - due)
                } else {
                    laterLateness = max(laterLateness, now - due)
                }
                polls[source] += 1
                busy += 1
                ends.push(End(time: now + Int64.random(in: 20...200, using: &dice), source: source))
            }
            let start = busy < slots ? queue.next?.milliseconds : nil
            guard let next = [ends.least?.time, start].compactMap({ $0 }).min() else { break }
            now = next
            while let end = ends.least, end.time <= now {
                _ = ends.popLeast()
                busy -= 1
                let random = Double.random(in: 0..<1, using: &dice)
                let delay = every.delay(states: [:], freshFor: nil, random: random)
                queue.schedule(end.source, at: BootTime(milliseconds: now).advanced(by: delay))
            }
        }
        #expect(now >= 86_400_000)
        #expect(polls.allSatisfy { 2...3 ~= $0 })
        #expect(firstLateness > 150_000 && firstLateness < 200_000)
        #expect(laterLateness < 1000)
    }

    @Test("the heap gives back sorted what it was given", arguments: 1...5)
    func heap(seed: UInt64) {
        var dice = SplitMix64(seed)
        var heap = Heap<Int>()
        let numbers = (0..<200).map { _ in Int.random(in: 0..<50, using: &dice) }
        for number in numbers { heap.push(number) }
        var out: [Int] = []
        while let least = heap.popLeast() { out.append(least) }
        #expect(out == numbers.sorted())
    }

    private let interval = PollInterval(every: .seconds(60), whileStates: ["Starting"], whileEvery: .seconds(3))

    @Test("a delay is jittered by a tenth either way", arguments: [(0.0, 54.0), (0.5, 60.0), (0.9999999, 66.0)])
    func jitter(random: Double, seconds: Double) {
        #expect(interval.delay(states: ["Ready": 3], freshFor: nil, random: random).inSeconds == seconds)
    }

    @Test("while an item is in transition the source is polled faster")
    func whileStates() {
        #expect(interval.delay(states: ["Starting": 1], freshFor: .seconds(999), random: 0.5) == .seconds(3))
        #expect(interval.delay(states: ["Starting": 0], freshFor: nil, random: 0.5) == .seconds(60))
    }

    @Test("the server's freshness slows a default, never an explicit interval, and never beyond a day")
    func freshness() {
        #expect(interval.delay(states: [:], freshFor: .seconds(600), random: 0.5) == .seconds(60))
        let standard = PollInterval(every: .seconds(60), isExplicit: false)
        #expect(standard.delay(states: [:], freshFor: .seconds(600), random: 0.5) == .seconds(600))
        #expect(standard.delay(states: [:], freshFor: .seconds(10), random: 0.5) == .seconds(60))
        #expect(standard.delay(states: [:], freshFor: .seconds(1 << 31), random: 0.5) == .seconds(86_400))
    }

    @Test("after failures the delay is `every` plus a part of min(1 h, every · 2ⁿ)")
    func backoff() {
        #expect(interval.delay(failures: 1, random: 0) == .seconds(60))
        #expect(interval.delay(failures: 1, random: 0.5) == .seconds(120))
        #expect(interval.delay(failures: 3, random: 0.5) == .seconds(300))
        for failures in [10, 20, 64, 10_000] {
            #expect(interval.delay(failures: failures, random: 0.5) == .seconds(1860))
        }
        let quick = PollInterval(every: .milliseconds(200))
        #expect(quick.delay(failures: 2, random: 0.5) == .milliseconds(600))
    }

    @Test("a stored due time is never believed beyond what the pace explains")
    func longest() {
        #expect(interval.longestDelay(Health()) == .seconds(66))
        var failing = Health()
        failing.failures = 2
        #expect(interval.longestDelay(failing) == .seconds(3666))
        #expect(PollInterval(every: .seconds(60), isExplicit: false).longestDelay(Health()) == .seconds(95_040))
        let slow = PollInterval(every: .seconds(10), whileStates: ["x"], whileEvery: .seconds(100))
        #expect(slow.longestDelay(Health()) == .seconds(110))
    }

    @Test("Retry-After is obeyed between a second and a day", arguments: [(0, 1), (5, 5), (1 << 31, 86_400)])
    func clampedRetryAfter(asked: Int, obeyed: Int) {
        #expect(PollInterval.clamped(retryAfter: .seconds(asked)) == .seconds(obeyed))
    }

    @Test("a source is failing after `fails` failures, says so once, and recovers once with the last problem")
    func health() {
        var health = Health()
        #expect(health.pollFailed(.timeout, detail: "a", fails: 3, at: at(1)) == nil)
        #expect(health.pollFailed(.timeout, detail: "b", fails: 3, at: at(2)) == nil)
        let failing = health.pollFailed(.serverError, detail: "c", fails: 3, at: at(3))
        #expect(failing?.kind == .failing && failing?.error == .init(failure: "server-error", detail: "c"))
        #expect(health.pollFailed(.timeout, detail: "d", fails: 3, at: at(4)) == nil)
        #expect(health.failures == 4 && health.isFailing && health.lastPollAt == at(4))
        let recovered = health.pollSucceeded(at: at(5))
        #expect(recovered?.kind == .recovered && recovered?.error?.detail == "d")
        #expect(health.pollSucceeded(at: at(6)) == nil && health.failures == 0 && health.problem == nil)
    }

    @Test("without a good poll for ten intervals, and an hour at least, a source is stale once; a good poll ends that")
    func stale() {
        var health = Health()
        #expect(health.becameStale(PollInterval(every: .seconds(60)), at: at(1)) == nil)
        _ = health.pollFailed(.timeout, detail: "a", fails: 3, at: at(0))
        #expect(health.becameStale(PollInterval(every: .seconds(60)), at: at(3599)) == nil)
        #expect(health.becameStale(PollInterval(every: .seconds(600)), at: at(5999)) == nil)
        #expect(health.becameStale(PollInterval(every: .seconds(60)), at: at(3600))?.kind == .stale)
        #expect(health.becameStale(PollInterval(every: .seconds(60)), at: at(9999)) == nil)
        _ = health.pollSucceeded(at: at(10_000))
        _ = health.pollFailed(.timeout, detail: "b", fails: 3, at: at(10_001))
        #expect(health.becameStale(PollInterval(every: .seconds(60)), at: at(13_601))?.kind == .stale)
    }

    @Test(
        "a failure that only a person can repair is failing at once",
        arguments: [Failure.unauthorized, .forbidden, .gone, .tlsPin])
    func needsPerson(failure: Failure) {
        var health = Health()
        #expect(health.pollFailed(failure, detail: "", fails: 3, at: at(1))?.kind == .failing)
    }

    @Test("failures below the count leave no trace", .tags(.I2))
    func fewFailures() {
        var health = Health()
        _ = health.pollFailed(.timeout, detail: "", fails: 3, at: at(1))
        #expect(health.pollSucceeded(at: at(2)) == nil)
        #expect(health.pollFailed(.timeout, detail: "", fails: 2, at: at(3)) == nil)
    }

    @Test("every status stands for the failure that it is")
    func statuses() {
        let expected: [(Int, Failure?)] = [
            (200, nil), (203, nil), (201, .incomplete), (202, .incomplete), (204, .incomplete), (205, .incomplete),
            (206, .incomplete), (207, .incomplete), (226, .incomplete), (299, .incomplete), (302, .redirect),
            (400, .clientError), (401, .unauthorized), (403, .forbidden),
            (404, .notFound), (407, .unauthorized), (410, .gone), (429, .rateLimited), (500, .serverError),
            (599, .serverError), (600, .protocol), (101, .protocol),
        ]
        for (status, failure) in expected { #expect(Failure(status: status) == failure, "\(status)") }
        #expect(Failure(status: 201, method: "POST") == nil && Failure(status: 206, method: "POST") == .incomplete)
        for method in ["PROPFIND", "REPORT"] { #expect(Failure(status: 207, method: method) == nil) }
    }
}
