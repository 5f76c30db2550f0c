// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the keys that every sink has, whatever its kind.
struct DeliveryPolicyReader {
    /// The names of all sinks.
    let sinks: [String]
    /// The default of `give_up`.
    let giveUp: Duration
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    /// - Parameter name: the sink's name.
    func policy(_ map: MapReader, of name: String) -> DeliveryPolicy {
        var policy = DeliveryPolicy()
        policy.giveUp = giveUp
        if let time = map["give_up"].flatMap({ scalars.duration($0, "'give_up'", atLeast: .seconds(60)) }) {
            policy.giveUp = time
        }
        if let count = map["concurrency"].flatMap({
            scalars.integer($0, "'concurrency'", in: 1...DeliveryPolicy.maximumConcurrency)
        }) {
            policy.concurrency = count
        }
        if let interval = map["rate"].flatMap({ RateReader(findings: findings).interval($0) }) {
            policy.interval = interval
        }
        policy.isParallel = map["parallel"].flatMap { scalars.flag($0, "'parallel'") } ?? false
        map["queue"].map { queue($0, &policy.queue) }
        policy.fallbacks = map["else"].flatMap { fallbacks($0, of: name) } ?? []
        if let node = map["else_after"] {
            if map["else"] == nil {
                findings.error(node.place, "'else_after' needs 'else', the sinks that get the messages")
            }
            policy.elseAfter = scalars.duration(node, "'else_after'", atLeast: .seconds(1)) ?? policy.elseAfter
        }
        return policy
    }

    private func queue(_ node: YAMLNode, _ bound: inout QueueBound) {
        guard let map = MapReader(node, "'queue'", keys: ConfigurationKeys.queue, findings) else { return }
        if let count = map["count"].flatMap({ scalars.integer($0, "'count'", in: 1...100_000_000) }) {
            bound.count = count
        }
        if let bytes = map["size"].flatMap({ scalars.size($0, "'size'") }) { bound.bytes = bytes }
        bound.policy = map["full"].flatMap { scalars.choice($0, "'full'") } ?? bound.policy
    }

    private func fallbacks(_ node: YAMLNode, of name: String) -> [String]? {
        var seen = Set<String>()
        return scalars.oneOrMany(node, "'else'")?.compactMap { node in
            guard let other = scalars.text(node, "'else'") else { return nil }
            guard other != name else {
                findings.error(node.place, "'else' names the sink itself; name another one")
                return nil
            }
            guard sinks.contains(other) else {
                findings.error(node.place, MapReader.unknown("sink", other, among: sinks))
                return nil
            }
            guard seen.insert(other).inserted else {
                findings.error(node.place, "the sink '\(other)' is named twice in 'else'; keep one")
                return nil
            }
            return other
        }
    }
}
