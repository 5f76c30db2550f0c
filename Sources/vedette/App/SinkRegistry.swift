// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore

/// The sinks of a configuration. On a reload a sink with unchanged options is kept, with its connections and
/// notifications.
struct SinkRegistry: Sendable {
    private(set) var sinks: [String: any Sink] = [:]
    private(set) var policy: [String: DeliveryPolicy] = [:]
    private(set) var fingerprints: [String: UInt64] = [:]

    /// Returns the sinks of another configuration, and the names of those that are kept.
    func replaced(by definitions: [SinkDefinition], _ services: SinkServices) -> (
        registry: SinkRegistry, kept: Set<String>
    ) {
        var registry = SinkRegistry()
        var kept = Set<String>()
        for definition in definitions {
            registry.fingerprints[definition.name] = definition.fingerprint
            registry.policy[definition.name] = definition.policy
            if fingerprints[definition.name] == definition.fingerprint, let sink = sinks[definition.name] {
                registry.sinks[definition.name] = sink
                kept.insert(definition.name)
            } else {
                registry.sinks[definition.name] = definition.make(definition.name, services)
            }
        }
        return (registry, kept)
    }
}
