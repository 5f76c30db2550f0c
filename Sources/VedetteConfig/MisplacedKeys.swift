// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What to do about keys that are written where others belong.
extension ConfigurationKeys {
    /// Keys that are no key of a rule.
    static let misplacedInRule = remedies([
        (names(when), { "belongs in 'when', as in 'when: {\($0): …}'" }),
        (names(matcher), { "is about a value in 'when', as in 'when: {field: price, to: {\($0): …}}'" }),
        (names(notice), { "belongs in 'notify', as in 'notify: {SINK: {\($0): …}}'" }),
        (names(sink), { _ in "is a key of a sink: write it under 'sinks', at the sink that 'notify' names" }),
    ])

    /// Keys that are no key of `when`.
    static let misplacedInWhen = remedies([
        (names(matcher), { "is about a value: write 'to: {\($0): …}' beside 'field', or 'item: {FIELD: {\($0): …}}'" }),
        (
            NameScope.itemNames,
            { "is a value of the item: write 'item: {\($0): …}', or 'field: \($0)' for a change of it" }
        ),
        (names(rule), { _ in "is a key of the rule: write it beside 'when'" }),
    ])

    /// Keys that are no key of a sink.
    static let misplacedInSink = remedies([
        (ofRules, { _ in "is a key of a rule: write it under 'rules', at the rules that notify the sink" })
    ])

    /// Keys that are no key of a source.
    static let misplacedInSource = remedies([
        (names(server), { _ in "belongs to a server: write it under 'servers' and name that with 'server'" }),
        (ofRules, { _ in "is a key of a rule: write it under 'rules', at a rule about the source" }),
    ])

    /// The keys of rules without `name`, which elsewhere is meant as something else.
    private static let ofRules = names(rule).filter { $0 != "name" }

    private static func names(_ keys: [Key]) -> [String] { keys.map(\.name) }

    /// Returns the remedy of each key; of a key in several tables the first counts. Only keys that are unknown where they
    /// stand are looked up.
    private static func remedies(_ tables: [(names: [String], remedy: (String) -> String)]) -> [String: String] {
        let pairs = tables.flatMap { table in table.names.map { ($0, table.remedy($0)) } }
        return Dictionary(pairs) { first, _ in first }
    }
}
