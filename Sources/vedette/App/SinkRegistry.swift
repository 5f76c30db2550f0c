// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore

/// The sinks that were made, by what was written for them: on a reload an unchanged one stays as it is, with its
/// connections and bubbles.
struct SinkRegistry: Sendable {
    private(set) var sinks: [String: any Sink] = [:]
    private(set) var policy: [String: DeliveryPolicy] = [:]
    private var fingerprints: [String: UInt64] = [:]

    /// The rack for another configuration, and the names whose sink is the same as before.
    func replaced(by definitions: [SinkDefinition], _ services: SinkServices) -> (rack: SinkRegistry, kept: Set<String>)
    {
        var rack = SinkRegistry()
        var kept = Set<String>()
        for definition in definitions {
            rack.fingerprints[definition.name] = definition.fingerprint
            rack.policy[definition.name] = definition.policy
            if fingerprints[definition.name] == definition.fingerprint, let sink = sinks[definition.name] {
                rack.sinks[definition.name] = sink
                kept.insert(definition.name)
            } else {
                rack.sinks[definition.name] = definition.make(definition.name, services)
            }
        }
        return (rack, kept)
    }
}
