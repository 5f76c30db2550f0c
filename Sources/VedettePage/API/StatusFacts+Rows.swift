// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension StatusFacts {
    /// A row for each rule: whom it notifies, and what it waits for.
    var ruleRows: [JSON] {
        let waiting = Dictionary(grouping: timers, by: \.key.rule)
        let warnings = Dictionary(unmatched.map { ($0.rule, $0.text) }) { first, _ in first }
        return rules.map { rule in
            let own = waiting[rule.name] ?? []
            return .members([
                "rule": .string(rule.name), "notify": .array(rule.notify.map { .string($0.sink) }),
                "priority": .string(rule.priority.rawValue),
                "tags": rule.tags.isEmpty ? nil : .array(rule.tags.map(JSON.string)),
                "waiting": own.isEmpty ? nil : .number(own.count),
                "due": own.compactMap(\.waitingUntil).min().map { .string($0.rfc3339) },
                "warning": warnings[rule.name].map(JSON.string),
            ])
        }
    }
}
