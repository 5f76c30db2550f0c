// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a map with the keys of a table, and reports all others.
struct MapReader {
    /// The name of the map in diagnostics: `source 'ci-runs'`.
    let what: String
    let node: YAMLNode
    let findings: Findings
    private let values: [String: YAMLEntry]

    /// Reports every unknown, planned and missing key. Returns nil when the node is no map.
    /// - Parameters:
    ///   - options: the options of a kind, which are allowed, too; they replace equal `keys`.
    ///   - remedies: what to do about keys that belong elsewhere.
    init?(
        _ node: YAMLNode, _ what: String, keys: [KeySpec], options: [OptionSpec] = [], remedies: [String: String] = [:],
        _ findings: Findings
    ) {
        guard let entries = node.entries(what, findings) else { return nil }
        (self.what, self.node, self.findings) = (what, node, findings)
        var values: [String: YAMLEntry] = [:]
        for entry in entries {
            let name = entry.name
            if keys.contains(where: { $0.name == name && !$0.isPlanned })
                || options.contains(where: { $0.name == name })
            {
                values[entry.name] = entry
            } else if keys.contains(where: { $0.name == entry.name }) {
                findings.error(entry.key.place, "'\(entry.name)' is not supported yet; remove it")
            } else if let remedy = remedies[entry.name] {
                findings.error(entry.key.place, "'\(entry.name)' \(remedy)")
            } else {
                let usable = keys.filter { !$0.isPlanned }.map(\.name) + options.map(\.name)
                findings.error(entry.key.place, MapReader.unknown("key", entry.name, in: what, among: usable))
            }
        }
        self.values = values
        for key in keys
        where key.isRequired && values[key.name] == nil && !options.contains(where: { $0.name == key.name }) {
            findings.error(node.place, "\(what) lacks '\(key.name)': \(key.type)")
        }
    }

    /// The value of a key; nil when it is absent. A key without a value is an error.
    subscript(name: String) -> YAMLNode? {
        guard let entry = values[name] else { return nil }
        guard !entry.value.isAbsent else {
            findings.error(entry.key.place, "'\(name)' has no value; write one or remove the key")
            return nil
        }
        return entry.value
    }

    /// Returns the value of a key, also an empty one.
    func value(_ name: String) -> YAMLNode? { values[name]?.value }

    /// Returns whether the key is present.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// Returns the place of the key.
    func key(_ name: String) -> Place { values[name]?.key.place ?? node.place }

    /// Returns the text of an error about an unknown name: `unknown sink 'tem'; did you mean 'team'?`
    static func unknown(_ noun: String, _ name: String, in what: String? = nil, among known: [String]) -> String {
        let place = what.map { " in \($0)" } ?? ""
        let start = "unknown \(noun) \(quoted(name))\(place)"
        if let meant = suggestion(for: name, among: known) { return "\(start); did you mean '\(meant)'?" }
        guard !known.isEmpty else { return "\(start); none is configured" }
        let some = known.sorted().prefix(12).joined(separator: ", ")
        return "\(start); known are \(some)" + (known.count > 12 ? " and \(known.count - 12) more" : "")
    }
}
