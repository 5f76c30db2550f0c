// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a map by a table of keys, and reports all other keys. Scalars are read at once, so that each error is reported,
/// whether or not their values are used.
struct MapReader: OptionValues {
    /// The name of the map in diagnostics: `source 'ci-runs'`.
    let what: String
    let node: YAMLNode
    let values: ValueReader
    private let keys: [OptionSpec]
    private let entries: [String: YAMLEntry]
    private var scalars: [String: OptionValue] = [:]

    var findings: Findings { values.findings }

    /// Reports every unknown and missing key, and warns of those that go. Returns nil when the node is no map.
    /// - Parameters:
    ///   - options: the options of a kind, which are allowed, too; they replace equal `keys`.
    ///   - remedies: what to do about keys that belong elsewhere.
    init?(
        _ node: YAMLNode, _ what: String, keys: [OptionSpec], options: [OptionSpec] = [],
        remedies: [String: String] = [:], _ values: ValueReader
    ) {
        let findings = values.findings
        self.keys = options.isEmpty ? keys : keys.filter { key in !options.contains { $0.name == key.name } }
        let known = options.isEmpty ? keys : self.keys + options
        guard let pairs = node.entries(what, findings, as: MapReader.example(of: known)) else { return nil }
        (self.what, self.node, self.values) = (what, node, values)
        var entries: [String: YAMLEntry] = [:]
        for entry in pairs {
            let name = entry.name
            if let key = known.first(where: { $0.name == name }) {
                entries[name] = entry
                if let deprecation = key.deprecation {
                    findings.warn(entry.key.place, deprecation.sentence(name))
                }
            } else if let remedy = remedies[name] {
                findings.error(entry.key.place, "'\(name)' \(remedy)")
            } else {
                findings.error(
                    entry.key.place, MapReader.unknown("key", name, in: what, among: known.map(\.name)))
            }
        }
        self.entries = entries
        for key in self.keys {
            if has(key.name) {
                guard key.type.isScalar, let node = self.node(key.name) else { continue }
                scalars[key.name] = values.value(node, key.type, "'\(key.name)'")
            } else if key.isRequired {
                reportMissing(key)
            } else if let text = key.documentedDefault, !key.isDefaultInWords {
                scalars[key.name] = key.type.value(of: text)
            }
        }
    }

    /// Returns how a map with these keys is written: `{count: …, per: …}`.
    static func example(of keys: [OptionSpec]) -> String? {
        let required = keys.filter(\.isRequired)
        let shown = (required.isEmpty ? Array(keys.prefix(1)) : required).map { "\($0.name): …" }
        return shown.isEmpty ? nil : "{\(shown.joined(separator: ", "))}"
    }

    /// Reports a key that must be there, with what it is for. A sentence that begins with an abbreviation keeps that.
    func reportMissing(_ key: OptionSpec) {
        var purpose = key.summary.hasSuffix(".") ? key.summary.dropLast() : key.summary[...]
        if purpose.dropFirst().first?.isLowercase == true {
            purpose = purpose.prefix(1).lowercased() + purpose.dropFirst()
        }
        findings.error(node.place, "\(what) lacks '\(key.name)': \(purpose)")
    }

    /// The value of a key, or its default; nil when it has none, when it is wrong, and for a structure, which `object` or its
    /// part of the configuration reads.
    subscript(name: String) -> OptionValue? {
        if let value = scalars[name] { return value }
        guard let type = keys.first(where: { $0.name == name })?.type, !type.isScalar else { return nil }
        return node(name).flatMap { values.value($0, type, "'\(name)'") }
    }

    /// Reads the map of a key by the table in its type; nil for another value that may stand in its place.
    /// - Parameter values: how its values are read; nil to read them as this map's.
    func object(_ name: String, _ values: ValueReader? = nil) -> MapReader? {
        guard let node = node(name) else { return nil }
        let values = values ?? self.values
        switch keys.first(where: { $0.name == name })?.type {
        case .object(let keys): return MapReader(node, "'\(name)'", keys: keys, values)
        case .either(_, .object(let keys)) where node.isMap: return MapReader(node, "'\(name)'", keys: keys, values)
        default: return nil
        }
    }

    /// Returns each text of a value or list, with its place.
    func words(_ name: String) -> [(text: String, place: Place)] {
        let nodes = node(name).flatMap { values.oneOrMany($0, "'\(name)'") } ?? []
        return nodes.compactMap { node in values.text(node, "'\(name)'").map { ($0, node.place) } }
    }

    /// Returns the path that the text of a key is.
    func path(_ name: String) -> String? {
        text(name).map { FilePath.resolve($0, in: node.source.file.directory, values.secrets.environment) }
    }

    /// The node of a key's value; nil when it is absent. A key without a value is an error.
    func node(_ name: String) -> YAMLNode? {
        guard let entry = entries[name] else { return nil }
        guard !entry.value.isAbsent else {
            findings.error(entry.key.place, "'\(name)' has no value; write one or remove the key")
            return nil
        }
        return entry.value
    }

    /// Returns the value of a key, also an empty one.
    func value(_ name: String) -> YAMLNode? { entries[name]?.value }

    /// Returns whether the key is present.
    func has(_ name: String) -> Bool { entries[name] != nil }

    /// Returns the place of the key.
    func key(_ name: String) -> Place { entries[name]?.key.place ?? node.place }

    /// Reports an error at the value of a key.
    func refuse(_ name: String, _ message: String) {
        findings.error(entries[name]?.value.place ?? node.place, message)
    }

    /// Returns the text of an error about an unknown name: `unknown sink 'tem'; did you mean 'team'?`
    static func unknown(_ noun: String, _ name: String, in what: String? = nil, among known: [String]) -> String {
        let place = what.map { " in \($0)" } ?? ""
        let start = "unknown \(noun) \(quoted(name))\(place)"
        if let meant = didYouMean(name, among: known) { return start + meant }
        return start + MapReader.list(known)
    }

    /// Returns the end of a sentence about an unknown name: `; known are desk, team`.
    static func list(_ known: [String]) -> String {
        guard !known.isEmpty else { return "; none is configured" }
        let some = known.sorted().prefix(12).joined(separator: ", ")
        return "; known are \(some)" + (known.count > 12 ? " and \(known.count - 12) more" : "")
    }
}

extension Findings {
    /// Returns whether a name is one of those that are known, and reports it when it is none.
    func isKnown(_ name: String, _ noun: String, among known: [String], at place: Place) -> Bool {
        if known.contains(name) { return true }
        error(place, MapReader.unknown(noun, name, among: known))
        return false
    }
}

/// Options of kinds.
extension MapReader {
    /// Returns the options of a kind; nil when one is missing or wrong.
    /// - Parameter stream: how a source reads records that its server pushes.
    func options(_ specs: [OptionSpec], stream: StreamSettings? = nil) -> Options? {
        var read: [String: OptionValue] = [:]
        var isGood = true
        for spec in specs {
            if !has(spec.name) {
                guard spec.isRequired else { continue }
                reportMissing(spec)
                isGood = false
            } else if let value = node(spec.name).flatMap({ values.value($0, spec.type, "'\(spec.name)'") }) {
                read[spec.name] = value
            } else {
                isGood = false
            }
        }
        return isGood ? Options(read, stream: stream) : nil
    }

    /// Makes what a kind makes of its options. Reports what it refuses at its place in the file.
    func making<Made>(_ options: Options, _ make: (Options) throws(OptionProblem) -> Made) -> Made? {
        do throws(OptionProblem) {
            return try make(options)
        } catch {
            report(error)
            reportOthers(than: error, options, make)
            return nil
        }
    }

    /// The most problems of one kind's options that are reported.
    private static let mostProblems = 20

    /// Reports what a kind refuses besides its first problem: it throws one, so its options are read again without what that
    /// is about. A problem that is about what was left out, or names it, may not be one of the file.
    private func reportOthers<Made>(
        than first: OptionProblem, _ options: Options, _ make: (Options) throws(OptionProblem) -> Made
    ) {
        var (left, problem, removed) = (options, first, Set<String>())
        for _ in 1..<MapReader.mostProblems {
            guard let name = problem.path.first, let rest = left.without(problem) else { return }
            left = rest
            removed.insert(left[name] == nil ? name : problem.path[1])
            do throws(OptionProblem) {
                _ = try make(left)
                return
            } catch {
                problem = error
            }
            if let name = problem.path.first, options[name] != nil, left[name] == nil { return }
            if !removed.contains(where: { problem.detail.contains("'\($0)'") || problem.detail.contains("`\($0)`") }) {
                report(problem)
            }
        }
    }

    private func report(_ problem: OptionProblem) {
        if let place = place(of: problem) {
            findings.error(place, problem.detail)
        } else {
            findings.error(node.place, "\(what): \(problem.detail)")
        }
    }

    /// Warns of an option that a kind doubts, at its place in the file.
    func warn(_ doubt: OptionProblem) { findings.warn(place(of: doubt) ?? node.place, doubt.detail) }

    private func place(of problem: OptionProblem) -> Place? {
        guard let name = problem.path.first, has(name), let node = node(name) else { return nil }
        return MapReader.place(of: problem.path.dropFirst(), in: node)
    }

    private static func place(of path: ArraySlice<String>, in node: YAMLNode) -> Place {
        guard let step = path.first else { return node.place }
        let next = node.child(step) ?? Int(step).flatMap { node.child($0) }
        if let next { return place(of: path.dropFirst(), in: next) }
        // The path may name an element of a list by its text.
        return node.isList ? node.children.first { $0.text == step }?.place ?? node.place : node.place
    }
}
