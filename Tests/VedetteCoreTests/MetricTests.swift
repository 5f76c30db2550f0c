// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import VedetteCore

@Suite("Metrics")
struct MetricTests {
    private func at(_ seconds: Int64) -> BootTime { BootTime(milliseconds: seconds * 1000) }

    private func moment(_ seconds: Int64) -> Moment {
        Moment(wall: Timestamp(milliseconds: 1_000_000 + seconds * 1000), boot: at(seconds))
    }

    @Test("a histogram counts a value at a bound in the bucket of that bound, and larger ones in the last")
    func buckets() {
        var histogram = Histogram(bounds: [0.1, 1, 10])
        for value in [0, 0.1, 0.11, 1, 10, 11, 1e9] { histogram.record(value) }
        #expect(histogram.counts == [2, 2, 1, 2])
        #expect(histogram.count == 7 && histogram.sum == 0 + 0.1 + 0.11 + 1 + 10 + 11 + 1e9)
    }

    @Test("a quantile is the bound that so many values do not exceed")
    func quantile() {
        var histogram = Histogram(bounds: [0.1, 1, 10])
        #expect(histogram.quantile(0.99) == nil)
        for _ in 0..<99 { histogram.record(0.05) }
        histogram.record(5)
        #expect(histogram.quantile(0.99) == 0.1)
        histogram.record(5)
        #expect(histogram.quantile(0.99) == 10)
        for _ in 0..<10 { histogram.record(500) }
        #expect(histogram.quantile(0.99) == 10)
    }

    @Test("the lateness of polls covers ten to twenty minutes, and is forgotten later")
    func lateness() {
        var lateness = PollLateness()
        #expect(lateness.report(at: moment(0)) == nil)
        for second in 0..<100 { lateness.add(.milliseconds(3), at: at(Int64(second))) }
        #expect(lateness.report(at: moment(100)) == .init(p99: 0.005, polls: 100, at: moment(100).wall))
        for second in 0..<100 { lateness.add(.milliseconds(40), at: at(700 + Int64(second))) }
        #expect(lateness.report(at: moment(800)) == .init(p99: 0.05, polls: 200, at: moment(800).wall))
        // The first period is over for ten minutes.
        #expect(lateness.report(at: moment(1350)) == .init(p99: 0.05, polls: 100, at: moment(1350).wall))
        #expect(lateness.report(at: moment(9000)) == nil)
    }

    @Test("metrics have names of their own in Prometheus' form, and buckets that ascend")
    func catalogue() {
        let all = Metric.ofWatcher
        #expect(Set(all.map(\.name)).count == all.count)
        for metric in all {
            #expect(metric.name.allSatisfy { $0.isLowercase || $0 == "_" }, "\(metric.name)")
            #expect(metric.name.hasSuffix("_total") == (metric.form == .counter), "\(metric.name)")
            #expect(!metric.help.isEmpty && !metric.help.hasSuffix("."), "\(metric.name)")
            if case .histogram(let bounds) = metric.form {
                #expect(bounds == bounds.sorted() && Set(bounds).count == bounds.count, "\(metric.name)")
            }
        }
    }
}
