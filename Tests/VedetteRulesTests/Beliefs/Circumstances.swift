// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What holds messages back at one moment, besides windows.
struct Circumstances {
    var silences: [Silence] = []
    var isGatewayFailing = false
    /// When the gateway came back last, in seconds after the start; nil for never.
    var gatewayBack: Int?
    var isMaintenance = false
    /// When each source was read last, in seconds after the start.
    var polled: [String: Int] = [:]
    /// Sources whose items may be others than the last good poll showed.
    var uncertain = Set<String>()
    var missing = Set<String>()
    var rule = "r"
    /// The name of the rule before the last one, which a silence can still name.
    var formerRule: String?

    static let silences = [
        Silence(id: 1, source: "lab", created: RuleHarness.noon),
        Silence(id: 2, item: "a", created: RuleHarness.noon),
        Silence(id: 3, until: RuleHarness.noon.advanced(by: .seconds(400)), created: RuleHarness.noon),
        Silence(id: 4, item: "b", drops: true, created: RuleHarness.noon),
        Silence(id: 9, rule: "r", created: RuleHarness.noon),
        Silence(id: 5, sink: "team", created: RuleHarness.noon),
        Silence(id: 6, item: "b", sink: "out", created: RuleHarness.noon),
        Silence(id: 7, until: RuleHarness.noon.advanced(by: .seconds(300)), sink: "out", created: RuleHarness.noon),
        Silence(id: 8, item: "a", sink: "team", drops: true, created: RuleHarness.noon),
        Silence(id: 10, sink: "boss", created: RuleHarness.noon),
    ]

    static func source(of key: String) -> String { key == "c" ? "shop" : "lab" }

    /// Returns the silences of what is said to a sink about an item.
    func covering(_ key: String, _ sink: String, at time: Int) -> [Silence] {
        silences.filter { silence in
            (silence.until.map { RuleHarness.noon.advanced(by: .seconds(time)) < $0 } ?? true)
                && (silence.rule == nil || silence.rule == rule || silence.rule == formerRule)
                && (silence.sink == nil || silence.sink == sink)
                && (silence.item == nil || silence.item == key)
                && (silence.source == nil || silence.source == Circumstances.source(of: key))
        }
    }

    func isUncertain(_ key: String) -> Bool {
        uncertain.contains(Circumstances.source(of: key)) || missing.contains(key)
    }
}
