// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Plays the steps of a run against the engine, and keeps what happened and what was told.
struct Run {
    private(set) var plan: Plan
    let deeds: [Deed]
    private(set) var history = History()
    private(set) var receivers: Receivers
    /// All messages in the order in which they were made.
    private(set) var made: [Told] = []
    /// What suppressed deliveries name, as the sink and the event.
    private(set) var reasons = Set<Reason>()
    /// The events that a log listed for a sink.
    private(set) var listed = Set<Reason>()
    /// The good polls of each source that found nothing new, after what they led to was told.
    private(set) var polls: [String: [Poll]] = [:]
    /// When matches were acknowledged, by the ids of their events.
    private(set) var acknowledged: [String: Int] = [:]
    /// When that was taken back of all.
    private(set) var takenBack = Int.max
    /// When everything is open.
    private(set) var openTime = 0
    private var watcher: TestedWatcher
    private var keys: [String: String] = [:]
    private var isLabFailing = false

    /// How long a poll whose commit failed takes to be repeated, in seconds.
    private static let retryDelay = 10

    struct Poll {
        let tick: Int
        let time: Int
        let circumstances: Circumstances
    }

    struct Reason: Hashable {
        var sink: String
        var event: String
    }

    init(_ plan: Plan, _ deeds: [Deed]) {
        (self.plan, self.deeds) = (plan, deeds)
        receivers = Receivers(hasFallback: plan.has(.fallback))
        watcher = TestedWatcher(plan.rule, isShared: deeds.contains(.takeOver))
        for key in Deed.keys { watcher.poll(Circumstances.source(of: key)) }
        for deed in deeds { play(deed) }
        end()
    }

    private mutating func play(_ deed: Deed) {
        switch deed {
        case .change(let change): commit(change)
        case .missing(let key):
            guard !isLabFailing, history.things[key]?.isPresent == true else { return }
            see("lab")
            history.set { $0.missing = [key] }
            watcher.poll("lab", missing: [key])
        case .failedCommit(let first, let second, let bothFail): failCommit(of: first, then: second, bothFail)
        case .labFails:
            isLabFailing.toggle()
            if isLabFailing {
                history.set { $0.uncertain.insert("lab") }
                watcher.pollFails("lab")
            } else {
                pollAll()
            }
        case .gateway(let failsFirst): setGateway(!history.now.isGatewayFailing, failsFirst: failsFirst)
        case .maintenance(let failsFirst): setMaintenance(!history.now.isMaintenance, failsFirst: failsFirst)
        case .silence(let number):
            let silence = Circumstances.silences[number]
            guard !history.now.silences.contains(silence) else { return }
            setSilences(history.now.silences + [silence])
        case .endSilence: setSilences(Array(history.now.silences.dropFirst()))
        case .refuses(let sink): receivers.toggle(sink, .refusing)
        case .stuck(let sink): receivers.toggle(sink, .stuck)
        case .drop(let sink): receivers.drop(sink)
        case .acknowledge(let key):
            history.set { _ in }
            if let match = watcher.acknowledge(key) { acknowledged[match] = history.tick }
        case .restart:
            history.set { $0.uncertain = ["lab", "shop"] }
            watcher.restart()
        case .takeOver:
            history.set { $0.missing = [] }
            watcher.takeOver(uncertain: history.now.uncertain)
        case .edit, .rename:
            plan.version += 1
            if deed == .rename { (plan.formerName, plan.name) = (plan.name, plan.name + "r") }
            history.set { [plan] in ($0.rule, $0.formerRule) = (plan.name, plan.formerName) }
            // Every other edit comes with a restart.
            if plan.version.isMultiple(of: 2) {
                history.set { $0.uncertain = ["lab", "shop"] }
                watcher.restart(with: plan.rule)
            } else {
                watcher.reload(plan.rule)
            }
        case .pass(let seconds): pass(seconds)
        }
        collect()
    }

    // MARK: Changes of items

    private func isReadable(_ change: Deed.Change) -> Bool {
        !(isLabFailing && Circumstances.source(of: change.key) == "lab")
    }

    private mutating func commit(_ change: Deed.Change) {
        guard isReadable(change), let changed = history.apply(change) else { return }
        let source = Circumstances.source(of: change.key)
        see(source)
        let event = event(changed, source)
        history.follow(changed.key, from: changed.before, to: changed.after, id: event.id.description, plan)
        watcher.poll(source, [event])
    }

    private mutating func failCommit(of first: Deed.Change, then second: Deed.Change, _ bothFail: Bool) {
        guard isReadable(first), let one = history.apply(first) else { return commit(second) }
        let before = history.now
        see("lab")
        // The model knows the event of the second try, which is stored.
        let tried = event(one, "lab")
        let stored = event(one, "lab")
        let earlier = watcher.evaluate("lab", [tried])
        if let two = history.apply(second) {
            see("shop")
            let event = event(two, "shop")
            history.follow(two.key, from: two.before, to: two.after, id: event.id.description, plan)
            let later = watcher.evaluate("shop", [event])
            let fails = bothFail || watcher.engine.fails(later.step, with: earlier.step)
            watcher.fail(earlier)
            if fails {
                watcher.fail(later)
                watcher.poll("shop", [event])
            } else {
                watcher.commit(later)
            }
        } else {
            watcher.fail(earlier)
        }
        collect()
        if before.uncertain.contains("lab") || !before.missing.isEmpty { waitForRetry(before) }
        history.follow(one.key, from: one.before, to: one.after, id: stored.id.description, plan)
        watcher.poll("lab", [stored])
    }

    /// Time passes before a poll whose commit failed is repeated: meanwhile the source is as uncertain as before.
    private mutating func waitForRetry(_ before: Circumstances) {
        history.set {
            $0.missing = before.missing
            if before.uncertain.contains("lab") { $0.uncertain.insert("lab") }
        }
        history.time += Run.retryDelay
        watcher.pass(to: RuleHarness.noon.advanced(by: .seconds(history.time)))
        watcher.silence(history.now.silences)
        collect()
        see("lab")
    }

    private mutating func event(_ changed: (key: String, before: History.Thing, after: History.Thing), _ source: String)
        -> Event
    {
        let (before, after) = (changed.before, changed.after)
        var item = Item(
            key: changed.key, title: changed.key, state: after.state,
            fields: ["team": .text(after.team), "note": .text("\(after.note)")])
        if let seen = after.seen { item.fields["seen"] = Run.written(seen) }
        var changes: [FieldChange] = []
        for (field, from, to) in [
            ("state", before.state, after.state), ("team", before.team, after.team),
            ("note", "\(before.note)", "\(after.note)"),
        ] where from != to { changes.append(FieldChange(field: field, from: .text(from), to: .text(to))) }
        if before.seen != after.seen {
            changes.append(
                FieldChange(field: "seen", from: before.seen.map(Run.written), to: after.seen.map(Run.written)))
        }
        let kind: Event.Kind = !after.isPresent ? .disappeared : before.isPresent ? .changed : .appeared
        let event = watcher.event(kind, source, item, kind == .changed ? changes : [])
        keys[event.id.description] = changed.key
        return event
    }

    private static func written(_ time: Int) -> Value {
        .text(RuleHarness.noon.advanced(by: .seconds(time)).rfc3339)
    }

    // MARK: What holds back

    private mutating func see(_ source: String) {
        history.set { [time = history.time] in
            $0.uncertain.remove(source)
            $0.polled[source] = time
            if source == "lab" { $0.missing = [] }
        }
    }

    private mutating func setGateway(_ isFailing: Bool, failsFirst: Bool) {
        history.set { [time = history.time] in
            $0.isGatewayFailing = isFailing
            if !isFailing { $0.gatewayBack = time }
        }
        watcher.health(of: "gateway", isFailing: isFailing, failsFirst: failsFirst)
    }

    private mutating func setMaintenance(_ isActive: Bool, failsFirst: Bool) {
        let item = Item(key: "dc", title: "dc", state: isActive ? "active" : "idle")
        let event = watcher.event(
            .changed, "maintenance", item,
            [FieldChange(field: "state", from: .text(isActive ? "idle" : "active"), to: item.state.map(Value.text))])
        history.set { $0.isMaintenance = isActive }
        if failsFirst { watcher.fail(watcher.evaluate("maintenance", [event])) }
        watcher.poll("maintenance", [event])
    }

    private mutating func setSilences(_ silences: [Silence]) {
        history.set { $0.silences = silences }
        watcher.silence(silences)
    }

    private mutating func pass(_ seconds: Int) {
        let end = history.time + seconds
        while history.time < end {
            // An engine whose deadline stays due does not end the run.
            let next = watcher.nextDeadline(polling: readable).map { Int($0.seconds(since: RuleHarness.noon)) } ?? end
            history.time = min(end, max(next, history.time + 1))
            watcher.pass(to: RuleHarness.noon.advanced(by: .seconds(history.time)))
            receivers.pass(to: history.time)
            collect()
            for source in readable where watcher.needsPoll(source) { poll(source) }
        }
        pollAll()
    }

    private var readable: [String] { isLabFailing ? ["shop"] : ["lab", "shop"] }

    private mutating func pollAll() { for source in readable { poll(source) } }

    private mutating func poll(_ source: String) {
        see(source)
        watcher.poll(source)
        collect()
        polls[source, default: []].append(Poll(tick: history.tick, time: history.time, circumstances: history.now))
    }

    /// Ends everything that holds messages back.
    private mutating func end() {
        isLabFailing = false
        receivers.acceptAll()
        setSilences([])
        collect()
        if history.now.isGatewayFailing { setGateway(false, failsFirst: false) }
        if history.now.isMaintenance { setMaintenance(false, failsFirst: false) }
        collect()
        history.set { _ in }
        takenBack = history.tick
        for key in Deed.keys { watcher.acknowledge(key, isUndo: true) }
        collect()
        pass(max(1, Plan.pause.upperBound - history.time))
        openTime = history.time
        for _ in 0..<20 { pass(30) }
    }

    private mutating func collect() {
        for delivery in watcher.takeDeliveries() {
            let message = delivery.message
            if delivery.state == .suppressed {
                let ids = [message.event.id.description] + (message.event.summary?.events ?? [])
                let named = ids.map { Reason(sink: message.sink, event: $0) }
                reasons.formUnion(named)
                if delivery.message.event.kind != .resolved, delivery.reason?.hasPrefix("goes into the digest") == true
                {
                    listed.formUnion(named)
                }
            } else {
                let told = Told(message, to: message.sink, tick: history.tick, time: history.time, keys: keys)
                made.append(told)
                receivers.take(told)
            }
        }
    }
}
