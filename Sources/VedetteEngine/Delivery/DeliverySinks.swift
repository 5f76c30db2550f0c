// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The configured sinks with their policies, and which of them this watcher delivers to.
struct DeliverySinks {
    private var all: [String: any Sink]
    private(set) var policy: [String: DeliveryPolicy]
    /// How often a sink was replaced.
    private var generations: [String: Int] = [:]
    /// The sinks that this watcher delivers to; nil for all.
    private(set) var held: Set<String>?
    /// How often each sink was given up to another watcher.
    private var releases: [String: Int] = [:]

    /// - Parameter policy: of the sinks that have one of their own.
    init(_ all: [String: any Sink], policy: [String: DeliveryPolicy], held: Set<String>?) {
        (self.all, self.policy, self.held) = (all, policy, held)
    }

    var names: Set<String> { Set(all.keys) }

    subscript(name: String) -> (any Sink)? { all[name] }

    func policy(of name: String) -> DeliveryPolicy { policy[name] ?? DeliveryPolicy() }

    func isHeld(_ name: String) -> Bool { held?.contains(name) ?? true }

    /// Delivers to these sinks alone.
    mutating func hold(_ names: Set<String>) {
        for name in held?.subtracting(names) ?? [] { releases[name, default: 0] += 1 }
        held = names
    }

    /// Returns how often a sink was given up: what was read before is no page of the lanes that it has now.
    func releases(of name: String) -> Int { releases[name, default: 0] }

    /// A refusal by a sink of an earlier generation does not pause its replacement.
    func generation(of name: String) -> Int { generations[name, default: 0] }

    /// Adds sinks; no known one is replaced.
    mutating func add(_ sinks: [String: any Sink], policy: [String: DeliveryPolicy]) {
        all.merge(sinks) { known, _ in known }
        self.policy.merge(policy) { known, _ in known }
    }

    /// Takes another set of sinks.
    /// - Parameter kept: names whose sink is the same as before.
    /// - Returns: the names that are new, removed or replaced, and the sinks that are no longer used.
    mutating func replace(
        _ sinks: [String: any Sink], policy: [String: DeliveryPolicy], keeping kept: Set<String>
    ) -> (changed: Set<String>, old: [any Sink]) {
        let old = all.filter { !kept.contains($0.key) }
        let changed = Set(sinks.keys).union(all.keys).subtracting(kept)
        (all, self.policy) = (sinks, policy)
        for name in changed { generations[name, default: 0] += 1 }
        return (changed, Array(old.values))
    }

    func closeAll() async { for sink in all.values { await sink.close() } }
}
