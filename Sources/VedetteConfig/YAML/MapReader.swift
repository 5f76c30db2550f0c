// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A map that takes the keys of its table and no others.
struct MapReader {
    /// The map as a sentence names it: `source 'ci-runs'`.
    let what: String
    let node: YAMLNode
    let findings: Findings
    private let values: [String: YAMLEntry]

    /// Finds every unknown, planned and missing key. Nil when it is no map.
    /// - Parameters:
    ///   - options: further keys that are allowed (the options of a kind); they win over `keys`.
    ///   - remedies: for keys that people write here though they belong elsewhere.
    init?(
        _ node: YAMLNode, _ what: String, keys: [KeySpec], options: [OptionSpec] = [], remedies: [String: String] = [:],
        _ findings: Findings
    ) {
        guard let entries = node.entries(what, findings) else { return nil }
        (self.what, self.node, self.findings) = (what, node, findings)
        let usable = keys.filter { !$0.isPlanned }.map(\.name) + options.map(\.name)
        var values: [String: YAMLEntry] = [:]
        for entry in entries {
            if usable.contains(entry.name) {
                values[entry.name] = entry
            } else if keys.contains(where: { $0.name == entry.name }) {
                findings.error(entry.key.place, "'\(entry.name)' is not supported yet; remove it")
            } else if let remedy = remedies[entry.name] {
                findings.error(entry.key.place, "'\(entry.name)' \(remedy)")
            } else {
                findings.error(entry.key.place, MapReader.unknown("key", entry.name, in: what, among: usable))
            }
        }
        self.values = values
        for key in keys
        where key.isRequired && values[key.name] == nil && !options.contains(where: { $0.name == key.name }) {
            findings.error(node.place, "\(what) lacks '\(key.name)': \(key.type)")
        }
    }

    /// The value of a key; a key without a value is a finding.
    subscript(name: String) -> YAMLNode? {
        guard let entry = values[name] else { return nil }
        guard !entry.value.isAbsent else {
            findings.error(entry.key.place, "'\(name)' has no value; write one or remove the key")
            return nil
        }
        return entry.value
    }

    /// The value of a key, also when nothing is written behind it.
    func value(_ name: String) -> YAMLNode? { values[name]?.value }

    /// Whether the key is written at all.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The key itself, for a finding about its presence.
    func key(_ name: String) -> Place { values[name]?.key.place ?? node.place }

    /// `unknown sink 'tem'; did you mean 'team'?`
    static func unknown(_ noun: String, _ name: String, in what: String? = nil, among known: [String]) -> String {
        let place = what.map { " in \($0)" } ?? ""
        let start = "unknown \(noun) '\(name)'\(place)"
        if let meant = suggestion(for: name, among: known) { return "\(start); did you mean '\(meant)'?" }
        guard !known.isEmpty else { return "\(start); there is none" }
        let some = known.sorted().prefix(12).joined(separator: ", ")
        return "\(start); known are \(some)" + (known.count > 12 ? " and \(known.count - 12) more" : "")
    }
}
