// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Measures polls. It belongs to the watcher's actor.
final class PollMeter {
    /// How a poll ended, as a label.
    enum Outcome: Int, CaseIterable {
        /// The body, or the response, was the last one's.
        case unchanged
        /// A body was read and compared.
        case read
        /// A bad state that too few polls in a row have shown.
        case unconfirmed
        case failed
        /// It met silence while this machine was offline.
        case offline

        var label: String { "\(self)" }
    }

    /// The handles of one lane.
    private struct LaneMeter {
        /// Nil for streams, which end with their connections.
        let duration: (any MetricHistogram)?
        let lateness: any MetricHistogram
        let inFlight: any MetricGauge

        init(_ meter: any Meter, _ lane: Lane) {
            duration = lane == .streams ? nil : meter.histogram(.pollDuration, lane.label)
            lateness = meter.histogram(.pollLateness, lane.label)
            inFlight = meter.gauge(.pollsInFlight, lane.label)
        }
    }

    /// The counters of one source, made when they are first needed.
    struct Counters {
        fileprivate var byOutcome: [(any MetricCounter)?] = []
    }

    private let meter: any Meter
    private let lanes: [Lane: LaneMeter]
    /// How late polls of hosts that answer start; polls of slow hosts wait for a slot by design (I7).
    private var lateness = PollLateness()

    init(_ meter: any Meter) {
        self.meter = meter
        let lanes: [Lane] = [.polls, .slowHosts, .streams]
        self.lanes = Dictionary(uniqueKeysWithValues: lanes.map { ($0, LaneMeter(meter, $0)) })
    }

    /// The summary for `status`; nil when no poll started lately.
    func report(at now: Moment) -> PollLateness.Report? { lateness.report(at: now) }

    /// Notes that a poll starts.
    func started(_ source: WatchedSource, in lane: Lane, at now: BootTime) {
        let lane = (name: lane, meter: lanes[lane])
        lane.meter?.inFlight.add(1)
        // A poll that somebody asked for was not due.
        guard let due = source.startedDue else { return }
        source.startedDue = nil
        let late = now.duration(since: due)
        lane.meter?.lateness.record(late.inSeconds)
        if lane.name == .polls { lateness.add(late, at: now) }
    }

    /// Notes that a poll is over.
    /// - Parameter start: when it began.
    func ended(_ source: WatchedSource, in lane: Lane, from start: BootTime, at now: BootTime) {
        let meter = lanes[lane]
        meter?.inFlight.add(-1)
        guard let duration = meter?.duration else { return }
        let seconds = now.duration(since: start).inSeconds
        duration.record(seconds)
        source.durations.add(seconds)
    }

    /// Counts the result of a poll, or of one batch of a stream.
    func count(_ outcome: Outcome, of source: WatchedSource) {
        if source.counters.byOutcome.isEmpty {
            source.counters.byOutcome = Array(repeating: nil, count: Outcome.allCases.count)
        }
        if source.counters.byOutcome[outcome.rawValue] == nil {
            source.counters.byOutcome[outcome.rawValue] = meter.counter(.polls, source.source.name, outcome.label)
        }
        source.counters.byOutcome[outcome.rawValue]?.add(1)
    }
}

extension Lane {
    /// The lane as a label.
    var label: String {
        switch self {
        case .polls: "polls"
        case .slowHosts: "slow_hosts"
        case .deliveries: "deliveries"
        case .streams: "streams"
        }
    }
}

extension PollMeter.Outcome {
    /// - Parameter isIgnored: whether the result counts for nothing, since this machine is offline.
    init?(_ outcome: PollResult.Outcome, isIgnored: Bool) {
        switch outcome {
        // A connection that was opened is no poll yet.
        case .cancelled, .opened: return nil
        case _ where isIgnored: self = .offline
        case .unchanged: self = .unchanged
        case .read: self = .read
        case .unconfirmed: self = .unconfirmed
        case .failed, .expired: self = .failed
        }
    }
}
