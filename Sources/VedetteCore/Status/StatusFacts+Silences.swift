// SPDX-License-Identifier: Apache-2.0

extension Silence {
    /// Returns what the silence names although nothing is called so, as `rule 'x'`; nil when it can be in effect.
    public func missingName(rules: [Rule], sources: some Sequence<String>, sinks: some Sequence<String>) -> String? {
        if let rule, !rules.contains(where: covers) { return "rule \(quoted(rule))" }
        if let source, !sources.contains(where: covers(source:)) { return "source \(quoted(source))" }
        if let sink, !sinks.contains(sink) { return "sink \(quoted(sink))" }
        return nil
    }

    /// Returns the warning about a silence that names what nothing is called.
    public func warning(missing name: String) -> String {
        "silence \(id) is without effect: there is no \(name); `vedette silences end \(id)` ends it"
    }
}

extension StatusFacts {
    /// Returns the warning about a silence without effect. Beside errors of the configuration nothing tells whether it is one.
    func warning(about silence: Silence) -> String? {
        guard configurationErrors == 0 else { return nil }
        return silence.missingName(rules: rules, sources: sources.lazy.map(\.name), sinks: sinks.lazy.map(\.name))
            .map(silence.warning)
    }

    /// What `status` warns of: silences without effect, and rules that matched no event.
    public var warnings: [String] { silences.compactMap(warning) + unmatched.map(\.text) }
}
