// SPDX-License-Identifier: Apache-2.0

/// A metric as Prometheus names it: base units (seconds, bytes), and counters that end in `_total`, by
/// https://prometheus.io/docs/practices/naming/.
public struct Metric: Sendable, Hashable {
    /// What its numbers are.
    public enum Form: Sendable, Hashable {
        case counter
        case gauge
        /// - Parameter bounds: the upper bounds of the buckets, ascending, without the infinite one.
        case histogram(bounds: [Double])
    }

    public let name: String
    public let form: Form
    /// What it measures, in one sentence without a full stop.
    public let help: String
    /// The names of its labels.
    public let labels: [String]

    public init(_ name: String, _ form: Form, _ help: String, labels: [String] = []) {
        (self.name, self.form, self.help, self.labels) = (name, form, help, labels)
    }
}

/// The metrics of a watcher. The page Metrics lists them.
extension Metric {
    // MARK: Counted where they happen

    public static let polls = Metric(
        "vedette_polls_total", .counter, "Polls that ended, by source and outcome", labels: ["source", "outcome"])
    public static let pollDuration = Metric(
        "vedette_poll_duration_seconds", .histogram(bounds: HistogramBounds.durations),
        "Time from the start of a poll to its end, with the wait for a connection", labels: ["lane"])
    public static let pollLateness = Metric(
        "vedette_poll_lateness_seconds", .histogram(bounds: HistogramBounds.lateness),
        "Time from the moment at which a poll was due to its start", labels: ["lane"])
    public static let pollsInFlight = Metric(
        "vedette_polls_in_flight", .gauge, "Polls under way, and open streams, by lane", labels: ["lane"])
    public static let events = Metric("vedette_events_total", .counter, "Events stored, by type", labels: ["type"])
    public static let deliveryAttempts = Metric(
        "vedette_delivery_attempts_total", .counter, "Attempts to deliver a message, by sink and outcome",
        labels: ["sink", "outcome"])
    public static let deliveriesInFlight = Metric(
        "vedette_deliveries_in_flight", .gauge, "Attempts to deliver a message that are under way")

    public static let ruleMessages = Metric(
        "vedette_rule_messages_total", .counter, "Messages of a rule that were sent or suppressed, by rule and outcome",
        labels: ["rule", "outcome"])

    // MARK: Read when they are asked for

    public static let buildInfo = Metric(
        "vedette_build_info", .gauge, "Always 1; the version is the label", labels: ["version"])
    public static let sources = Metric(
        "vedette_sources", .gauge, "Sources of the configuration, by health", labels: ["health"])
    public static let sourceFailing = Metric(
        "vedette_source_failing", .gauge, "1 while the source is failing, else 0", labels: ["source"])
    public static let sourceItems = Metric(
        "vedette_source_items", .gauge, "Items in the snapshot of the source", labels: ["source"])
    public static let sentToday = Metric(
        "vedette_deliveries_sent_today", .gauge, "Messages sent since midnight, local time", labels: ["sink"])
    public static let pending = Metric(
        "vedette_deliveries_pending", .gauge, "Messages that have yet to be delivered, also those retrying or paused",
        labels: ["sink"])
    public static let dead = Metric(
        "vedette_deliveries_dead", .gauge, "Messages in the journal that were given up or refused", labels: ["sink"])
    public static let journalBytes = Metric("vedette_journal_bytes", .gauge, "Bytes of the journal in use")
    public static let journalStalled = Metric(
        "vedette_journal_stalled", .gauge, "1 while nothing was stored although polls were due, else 0")
    public static let startTime = Metric(
        "process_start_time_seconds", .gauge, "Start of the process, in seconds since 1970-01-01T00:00:00Z")
    public static let processorTime = Metric(
        "process_cpu_seconds_total", .counter, "User and system time of the process")
    public static let residentMemory = Metric(
        "process_resident_memory_bytes", .gauge, "Resident memory of the process")

    /// All of them.
    public static let ofWatcher = [
        buildInfo, polls, pollDuration, pollLateness, pollsInFlight, sources, sourceFailing, sourceItems, events,
        deliveryAttempts, deliveriesInFlight, ruleMessages, sentToday, pending, dead, journalBytes, journalStalled,
        startTime,
        processorTime, residentMemory,
    ]
}
