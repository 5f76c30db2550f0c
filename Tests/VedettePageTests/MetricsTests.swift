// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
@testable import VedettePage

@Suite("Metrics of the page")
struct MetricsTests {
    private let counted = Metric("things_total", .counter, "Things\nwith a \\ and a \"", labels: ["source", "outcome"])
    private let timed = Metric("wait_seconds", .histogram(bounds: [0.1, 1]), "Waits", labels: ["lane"])
    private let level = Metric("level", .gauge, "A level")

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func histogram(_ values: Double...) -> Histogram {
        var histogram = Histogram(bounds: [0.1, 1])
        for value in values { histogram.record(value) }
        return histogram
    }

    @Test("the text format 0.0.4: escaped help and labels, cumulative buckets, sum and count")
    func text() {
        let families = [
            MetricFamily(
                counted,
                [.init(["a\"b\\c\nd", "read"], .number(3)), .init(["プロダクション", "failed"], .number(0.25))]),
            MetricFamily(timed, [.init(["polls"], .histogram(histogram(0.05, 0.1, 0.5, 7)))]),
            MetricFamily(level, .infinity),
            MetricFamily(Metric("empty", .gauge, "Nothing"), []),
        ]
        #expect(
            PrometheusText.render(families) == """
                # HELP things_total Things\\nwith a \\\\ and a "
                # TYPE things_total counter
                things_total{source="a\\"b\\\\c\\nd",outcome="read"} 3
                things_total{source="プロダクション",outcome="failed"} 0.25
                # HELP wait_seconds Waits
                # TYPE wait_seconds histogram
                wait_seconds_bucket{lane="polls",le="0.1"} 2
                wait_seconds_bucket{lane="polls",le="1"} 3
                wait_seconds_bucket{lane="polls",le="+Inf"} 4
                wait_seconds_sum{lane="polls"} 7.65
                wait_seconds_count{lane="polls"} 4
                # HELP level A level
                # TYPE level gauge
                level +Inf

                """)
    }

    @Test("what is counted reaches the text; two handles of the same labels are one number")
    func registry() {
        let registry = MetricRegistry([counted, timed, level])
        registry.counter(counted, "a", "read").add(2)
        registry.counter(counted, "a", "read").add(1)
        registry.histogram(timed, "polls").record(0.5)
        let gauge = registry.gauge(level)
        gauge.add(3)
        gauge.add(-1)
        // A metric that is not in the table, and one that is, with other labels.
        registry.counter(Metric("unknown_total", .counter, "Unknown")).add(1)
        registry.counter(counted, "a").add(1)
        #expect(
            registry.families == [
                MetricFamily(counted, [.init(["a", "read"], .number(3))]),
                MetricFamily(timed, [.init(["polls"], .histogram(histogram(0.5)))]), MetricFamily(level, 2),
            ])
        #expect(registry.number(level) == 2)
    }

    @Test("values of a label beyond the limit share one, in counters and in what is read at a scrape")
    func limit() {
        let registry = MetricRegistry([counted], labelLimit: 2)
        for name in ["a", "b", "c", "d", "a"] {
            registry.counter(counted, name, "read").add(1)
        }
        let counts = registry.families.flatMap(\.samples).map { ($0.labels[0], $0.value) }
        #expect(counts.map(\.0) == ["(other)", "a", "b"])
        #expect(counts.map(\.1) == [.number(2), .number(2), .number(1)])
        let items = MetricFamily(.sourceItems, byLabel: [("a", 1), ("c", 20), ("d", 300)])
        #expect(registry.limited(items) == MetricFamily(.sourceItems, byLabel: [("(other)", 320), ("a", 1)]))
    }

    @Test("handles from many threads lose no count")
    func threads() async {
        let registry = MetricRegistry([counted, timed])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let counter = registry.counter(counted, "a", "read")
                    let waits = registry.histogram(timed, "polls")
                    for _ in 0..<1000 {
                        counter.add(1)
                        waits.record(0.5)
                    }
                }
            }
        }
        #expect(registry.families[0].samples.map(\.value) == [.number(8000)])
        guard case .histogram(let histogram) = registry.families[1].samples[0].value else {
            Issue.record("no histogram")
            return
        }
        #expect(histogram.counts == [0, 8000, 0])
    }

    @Test("what is read at a scrape has every metric of the table that the engine does not count")
    func numbers() {
        var numbers = WatcherNumbers(version: "1.2")
        numbers.sources = [
            .init(name: "a", health: "ok", isFailing: false, items: 7),
            .init(name: "b", health: "failing", isFailing: true, items: 0),
        ]
        numbers.sinks = [.init(name: "k", sentToday: 5, pending: 2, dead: 1)]
        (numbers.journalBytes, numbers.isStalled, numbers.start) = (4096, false, Timestamp(milliseconds: 1500))
        (numbers.processorTime, numbers.residentMemory) = (0.5, 1 << 20)
        let text = PrometheusText.render(numbers.families)
        let lines = Set(text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init))
        #expect(
            lines == [
                "vedette_build_info{version=\"1.2\"} 1", "vedette_sources{health=\"failing\"} 1",
                "vedette_sources{health=\"ok\"} 1", "vedette_source_failing{source=\"a\"} 0",
                "vedette_source_failing{source=\"b\"} 1", "vedette_source_items{source=\"a\"} 7",
                "vedette_source_items{source=\"b\"} 0", "vedette_deliveries_sent_today{sink=\"k\"} 5",
                "vedette_deliveries_pending{sink=\"k\"} 2", "vedette_deliveries_dead{sink=\"k\"} 1",
                "vedette_journal_bytes 4096", "vedette_journal_stalled 0", "process_start_time_seconds 1.5",
                "process_cpu_seconds_total 0.5", "process_resident_memory_bytes 1048576",
            ])
        let counted: Set<Metric> = [
            .polls, .pollDuration, .pollLateness, .pollsInFlight, .events, .deliveryAttempts, .deliveriesInFlight,
            .ruleMessages,
        ]
        #expect(counted.union(numbers.families.map(\.metric)) == Set(Metric.ofWatcher))
    }

    @Test("the page Metrics has a row for each metric, with its type and labels, and no other")
    func documented() throws {
        let page = Self.root.appending(path: "Sources/vedette/Documentation.docc/Metrics.md")
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| `") && $0.contains("_") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        let expected = Metric.ofWatcher.map { metric in
            let type =
                switch metric.form {
                case .counter: "counter"
                case .gauge: "gauge"
                case .histogram: "histogram"
                }
            return ["`\(metric.name)`", type, metric.labels.map { "`\($0)`" }.joined(separator: ", ")]
        }
        #expect(rows.map { [$0[0], $0[1], $0[3]] }.sorted { $0[0] < $1[0] } == expected.sorted { $0[0] < $1[0] })
    }

    @Test(
        "the dashboard and the alerts use metrics of the table alone",
        arguments: ["contrib/grafana/vedette.json", "contrib/prometheus/rules.yaml"])
    func used(file: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: file), encoding: .utf8)
        let names = Metric.ofWatcher.flatMap { metric in
            if case .histogram = metric.form { [metric.name + "_bucket"] } else { [metric.name] }
        }
        let used = Set(text.matches(of: /(?:vedette|process)_[a-z_]+/).map { String($0.output) })
        #expect(used.count > 3)
        #expect(used.subtracting(names).isEmpty)
    }

    @Test("what is read of the journal is what status shows")
    func read() async throws {
        let (journal, now) = (MemoryJournal(), TestClock.start)
        var record = SourceRecord(name: "lab")
        record.snapshot = SnapshotHead(identity: 1, fingerprints: [:], goodAt: now)
        record.snapshot?.count = 7
        record.health.isFailing = true
        let event = Event(id: Identifier("e"), kind: .appeared, time: now, source: "lab", sourceKind: "json", poll: "p")
        let message = Message(id: "m", rule: "r", sink: "k", event: event, title: "t", text: "")
        _ = try journal.commit(
            [
                PollRecord(
                    record: record, events: [event], deliveries: [Delivery(message: message, created: now, due: now)])
            ], within: .none)
        var numbers = WatcherNumbers(version: "1")
        let configuration = ConfigurationFacts(
            sources: [source("lab"), source("new")], sinks: [.init(name: "k", kindName: "webhook", isInsecure: false)],
            rules: [], editedAt: now)
        try await numbers.read(journal, configuration, now: now, today: now, age: .seconds(5))
        let lines = PrometheusText.render(numbers.families).split(separator: "\n")
        for line in [
            "vedette_source_failing{source=\"lab\"} 1", "vedette_source_items{source=\"lab\"} 7",
            "vedette_sources{health=\"new\"} 1", "vedette_deliveries_pending{sink=\"k\"} 1",
            "vedette_deliveries_dead{sink=\"k\"} 0", "vedette_journal_stalled 0",
        ] {
            #expect(lines.contains { $0 == line }, "\(line)")
        }
    }
}
