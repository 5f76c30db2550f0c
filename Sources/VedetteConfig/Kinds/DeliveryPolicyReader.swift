// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the keys that every sink has, whatever its kind.
struct DeliveryPolicyReader {
    /// The names of all sinks.
    let sinks: [String]
    /// The default of `give_up`.
    let giveUp: Duration

    /// - Parameter name: the sink's name.
    func policy(_ map: MapReader, of name: String) -> DeliveryPolicy {
        var policy = DeliveryPolicy()
        policy.giveUp = map.duration("give_up") ?? giveUp
        policy.concurrency = map.integer("concurrency") ?? policy.concurrency
        policy.interval = map.interval("rate") ?? policy.interval
        policy.isParallel = map.flag("parallel") == true
        if let queue = map.object("queue") {
            policy.queue.count = queue.integer("count") ?? policy.queue.count
            policy.queue.bytes = queue.integer("size").map(Int64.init) ?? policy.queue.bytes
            policy.queue.policy = queue.choice("full") ?? policy.queue.policy
        }
        policy.fallbacks = fallbacks(map, of: name)
        policy.elseAfter = map.duration("else_after") ?? policy.elseAfter
        if map.has("else_after"), !map.has("else") {
            map.refuse("else_after", "'else_after' needs 'else', the sinks that get the messages")
        }
        if map.has("else_after"), map.has("else"), policy.elseAfter > policy.giveUp {
            map.findings.warn(
                map.key("else_after"),
                "'else_after' is longer than 'give_up' (\(DurationText.long(seconds: policy.giveUp.inSeconds))), after which the sinks of 'else' get the messages anyway; write a shorter one"
            )
        }
        if policy.fallbacks.isEmpty { map.warn(giveUp: policy.giveUp) }
        return policy
    }

    private func fallbacks(_ map: MapReader, of name: String) -> [String] {
        var seen = Set<String>()
        return map.words("else").filter { other, place in
            if other == name {
                map.findings.error(place, "'else' names the sink itself; name another one")
            } else if map.findings.isKnown(other, "sink", among: sinks, at: place), !seen.insert(other).inserted {
                map.findings.error(place, "the sink '\(other)' is named twice in 'else'; keep one")
            }
            return true
        }.map(\.text)
    }
}

extension MapReader {
    /// How long the attempts that a delivery gets, however old it is, take on average: each delay is half its bound.
    private static var attempts: Duration {
        (0..<(RetryPolicy.leastAttempts - 1)).map { min(RetryPolicy.longest, RetryPolicy.first * (1 << $0)) / 2 }
            .reduce(.zero, +)
    }

    /// Warns of a time to give up that is over before the least number of attempts is made, so that it ends nothing.
    func warn(giveUp: Duration) {
        guard has("give_up"), giveUp < MapReader.attempts else { return }
        let attempts = DurationText.short(seconds: MapReader.attempts.inSeconds)
        findings.warn(
            key("give_up"),
            "'give_up' has no effect: a message is tried \(RetryPolicy.leastAttempts) times before it is dead, which takes \(attempts) on average; write a longer time, or 'else' and 'else_after' for another sink"
        )
    }

    /// Reads `rate: {count, per}`, so many in a time, as the time from one to the next.
    func interval(_ name: String) -> Duration? {
        guard let map = object(name), let count = map.integer("count"), let time = map.duration("per") else {
            return nil
        }
        return time / count
    }
}
