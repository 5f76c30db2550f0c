// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A rule with its place in the files.
struct ReadRule {
    var rule: Rule
    /// The whole rule.
    var node: YAMLNode
    /// The place of its name.
    var place: Place
    /// The places of its tests, in their order.
    var testPlaces: [Place]
}

/// Reports conditions of a rule that can never be met, because the kinds of its sources have no such field or state.
struct RuleValidator {
    /// The names of all sources.
    let names: [String]
    /// The kinds of the sources that have no error.
    let kinds: [String: any SourceKind]
    let findings: Findings

    /// Fields of every item that are stored and shown but never compared.
    private static let uncompared: Set<String> = ["key", "url", "time"]

    func validate(_ read: ReadRule) {
        guard let when = read.node.child("when") else { return }
        let scope = validate(when, in: Set(names), isNarrowed: false)
        if let reason = Contradiction.find(in: read.rule.when) {
            findings.error(when.place, "'when' can never match: \(reason)")
        }
        for (sink, name) in read.rule.textsWithoutEnd {
            findings.warn(
                read.node.child("resolved")?.place ?? read.place,
                "the '\(name)' for '\(sink)' does not show what is so now, so that the end of a match has the usual one; use {{#resolved}} or {{item.state}} in it, or write 'resolved: {\(name): …}' or '{\(name): same}'"
            )
        }
        if let depends = read.node.child("depends"), !scope.isEmpty {
            for (name, place) in texts(depends) where scope == [name] {
                findings.error(
                    place,
                    "the rule is about '\(name)' itself, so 'depends' on it has no effect; remove it, or name the source in front of it"
                )
            }
        }
        if let until = read.node.child("remind")?.child("until") {
            if (when.child("field")?.text ?? "state") == "state" { check(states: until, in: scope) }
            let told = texts(when.child("to") ?? when.child("stays")).map(\.text)
            if !told.isEmpty, Set(told).isSubset(of: texts(until).map(\.text)) {
                findings.warn(
                    until.place,
                    "'until' has every value of the match, so that no reminder is sent; name values that end the reminders of a match which goes on, or remove it: the end of the match ends them anyway"
                )
            }
        }
        for name in ["if", "unless"] {
            guard let node = read.node.child(name) else { continue }
            for part in node.isList ? node.children : [node] { validate(asked: part) }
        }
    }

    /// Validates what `if` or `unless` asks of a source, or `how_many` of its items.
    /// - Parameter source: the source; nil where the map names it.
    private func validate(asked node: YAMLNode, of source: String? = nil) {
        guard let source = source ?? node.child("source")?.text, names.contains(source) else { return }
        let fields = NameScope(fields: [source: kinds[source].flatMap(\.fieldNames)])
        for pair in pairs(node.child("item")) {
            if let name = pair.key.text { fields.check(field: name, at: pair.key.place, findings) }
            if pair.key.text == "state" { check(states: pair.value, in: [source]) }
        }
        let (field, value) = (node.child("field"), node.child("is") ?? node.child("state"))
        if let field, let name = field.text { fields.check(field: name, at: field.place, findings) }
        guard let value else { return }
        if (field?.text ?? "state") == "state" {
            check(stateAt: value.place, in: [source])
            check(states: value, in: [source])
        } else if let field, let name = field.text, !isBound(value) {
            check(measure: name, at: field.place, in: [source])
        }
    }

    /// Validates one map of conditions. Returns the sources that it can match.
    @discardableResult
    private func validate(_ node: YAMLNode, in outer: Set<String>, isNarrowed: Bool) -> Set<String> {
        guard node.isMap else { return outer }
        let scope = node.child("source").map { narrowed(outer, to: $0) } ?? outer
        let isNarrowed = isNarrowed || node.child("source") != nil
        validateFields(node, in: scope)
        if let count = node.child("how_many"), let source = scope.first, scope.count == 1 {
            validate(asked: count, of: source)
        }
        for pair in pairs(node.child("item")) where pair.key.text == "state" {
            check(stateAt: pair.key.place, in: scope)
            check(states: pair.value, in: scope)
        }
        if let flag = node.child("disappears"), !scope.isEmpty, modes(of: scope) == [.window] {
            if kinds(of: scope).contains(where: \.mayBeComplete) {
                findings.warn(
                    flag.place,
                    "\(list(scope)) shows only the newest items, so that 'disappears' matches only where a document of it declares itself complete (fh:complete in a feed)"
                )
            } else {
                findings.error(
                    flag.place,
                    "\(list(scope)) shows only the newest items, so that an absent one is not gone and 'disappears' never matches; remove the rule, or read the source with 'mode: list' where its kind has that"
                )
            }
        }
        if isNarrowed { validateWatcherStates(node) }
        for name in ["all", "any"] {
            for part in node.child(name)?.children ?? [] { validate(part, in: scope, isNarrowed: isNarrowed) }
        }
        if let part = node.child("not") { validate(part, in: scope, isNarrowed: isNarrowed) }
        return scope
    }

    /// Events about the watcher and about sinks have no source.
    private func validateWatcherStates(_ node: YAMLNode) {
        for (word, place) in texts(node.child("source_state")) where ["offline", "online"].contains(word) {
            findings.error(
                place, "'\(word)' is a state of the watcher, not of a source; write it in a rule without 'source'")
        }
        if let node = node.child("sink_state") {
            findings.error(node.place, "'sink_state' is about a sink, not about a source; remove 'source'")
        }
    }

    private func validateFields(_ node: YAMLNode, in scope: Set<String>) {
        let isStays = node.child("stays") != nil
        if let field = node.child("field") ?? (isStays ? node.child("stays") : nil) {
            let name = node.child("field")?.text ?? "state"
            let needsOldValue = node.child("from") != nil || node.child("by") != nil
            check(compared: name, at: field.place, needsOldValue: needsOldValue || isStays, in: scope)
            let values = ["from", "to", "stays"].compactMap { node.child($0) }
            if node.child("by") != nil || !values.contains(where: isBound) {
                check(measure: name, at: field.place, in: scope)
            }
            if name == "state" {
                check(stateAt: field.place, in: scope)
                for side in ["from", "to", "stays"].compactMap({ node.child($0) }) { check(states: side, in: scope) }
            }
        }
        for (name, place) in texts(node.child("changes")) {
            check(compared: name, at: place, needsOldValue: false, in: scope)
            check(measure: name, at: place, in: scope)
            if name == "state" { check(stateAt: place, in: scope) }
        }
        let sides = ["from", "to"].map { texts(node.child($0)) }
        if let value = sides[0].first?.text, let to = sides[1].first, sides.allSatisfy({ $0.count == 1 }),
            value == to.text
        {
            findings.error(
                to.place, "'from' and 'to' are both '\(value)', which is no change; write another value, or 'stays'")
        }
    }

    // MARK: Fields

    /// - Parameter needsOldValue: whether a new item cannot match.
    private func check(compared name: String, at place: Place, needsOldValue: Bool, in scope: Set<String>) {
        if RuleValidator.uncompared.contains(name) {
            findings.error(
                place, "'\(name)' is never compared, so that no change of it is seen; match it with 'item' instead")
            return
        }
        let kinds = kinds(of: scope)
        guard !kinds.isEmpty, kinds.count == scope.count, kinds.allSatisfy({ $0.noteNames.contains(name) }) else {
            return
        }
        let start = "'\(name)' is a note of \(list(scope)): it is stored and shown, but never compared"
        if needsOldValue {
            findings.error(place, "\(start), so that this never matches; match it with 'item' instead")
        } else {
            findings.warn(place, "\(start), so that only new items match; write 'appears: true' with 'item' to say so")
        }
    }

    /// Reports a number that is never compared but with bounds.
    private func check(measure name: String, at place: Place, in scope: Set<String>) {
        let kinds = kinds(of: scope)
        guard !kinds.isEmpty, kinds.count == scope.count, kinds.allSatisfy({ $0.measureNames.contains(name) }) else {
            return
        }
        findings.error(
            place,
            "'\(name)' is a measure of \(list(scope)): it is other at each poll, and only bounds are compared; write 'field: \(name)' with a bound, as 'to: {above: 5}'"
        )
    }

    /// Whether a matcher is a bound, also under `not`.
    private func isBound(_ node: YAMLNode) -> Bool {
        guard node.isMap else { return false }
        return node.child("above") != nil || node.child("below") != nil || node.child("not").map(isBound) ?? false
    }

    // MARK: States

    private func check(stateAt place: Place, in scope: Set<String>) {
        let states = states(of: scope)
        guard let states, states.allSatisfy({ $0.isNone }) else { return }
        findings.error(
            place,
            "the items of \(list(scope)) have no state; name another field, or give the source a 'state' where its kind has that option"
        )
    }

    /// Reports texts, and globs, that no state of these sources can match.
    private func check(states node: YAMLNode, in scope: Set<String>) {
        guard let states = states(of: scope), !states.allSatisfy(\.isNone) else { return }
        let known = Set(states.flatMap(\.known)).sorted()
        for (text, place) in texts(node) where !states.contains(where: { $0.contains(text) }) {
            let guess = suggestion(for: text, among: known).map { "did you mean '\($0)'?" }
            findings.error(
                place,
                "\(list(scope)) never has the state \(quoted(text)); "
                    + (guess ?? "its states are \(known.joined(separator: ", "))"))
        }
        if let excluded = node.isMap ? node.child("not") : nil { check(excluded: excluded, states, in: scope) }
        if let glob = node.isMap ? node.child("glob") : nil, let text = glob.text, states.allSatisfy(\.isClosed),
            !known.contains(where: Glob(text).matches)
        {
            findings.error(
                glob.place, "no state of \(list(scope)) matches '\(text)'; they are \(known.joined(separator: ", "))")
        }
    }

    /// Reports `not` with a state that these sources never have, or with all that they have.
    private func check(excluded node: YAMLNode, _ states: [StateNames], in scope: Set<String>) {
        check(states: node, in: scope)
        let known = Set(states.flatMap(\.known)).sorted()
        let glob = (node.isMap ? node.child("glob")?.text : nil).map { Glob($0) }
        let excluded = Set(texts(node).map(\.text))
        guard states.allSatisfy(\.isClosed),
            known.allSatisfy({ excluded.contains($0) || glob?.matches($0) == true })
        else { return }
        findings.error(
            node.place,
            "'not' excludes every state of \(list(scope)), so that nothing matches; they are \(known.joined(separator: ", "))"
        )
    }

    /// Returns the states of these sources; nil when one source's are unknown.
    private func states(of scope: Set<String>) -> [StateNames]? {
        let all = scope.map { kinds[$0]?.stateNames }
        let known = all.compactMap { $0 }
        return known.isEmpty || known.count < all.count ? nil : known
    }

    /// Reports `while` of a source whose items have no state, or never one of those.
    func validate(_ source: Source, _ node: YAMLNode) {
        guard let states = node.child("while")?.child("state") else { return }
        if source.kind.stateNames?.isNone == true {
            findings.error(
                states.place,
                "the items of '\(source.name)' have no state, so that 'while' has no effect; give the source a 'state' where its kind has that option"
            )
        } else {
            check(states: states, in: [source.name])
        }
    }

    // MARK: Sources

    private func narrowed(_ scope: Set<String>, to node: YAMLNode) -> Set<String> {
        let texts = texts(node).map(\.text)
        return scope.filter { name in texts.contains { $0 == name || (Glob.isGlob($0) && Glob($0).matches(name)) } }
    }

    private func kinds(of scope: Set<String>) -> [any SourceKind] { scope.compactMap { kinds[$0] } }

    private func modes(of scope: Set<String>) -> Set<ReadingMode?> { Set(scope.map { kinds[$0]?.mode }) }

    private func list(_ scope: Set<String>) -> String {
        let names = scope.sorted().prefix(3).map { "'\($0)'" }.joined(separator: ", ")
        return scope.count > 3 ? "\(names) and \(scope.count - 3) more" : names
    }

    // MARK: Nodes

    /// Returns the texts of a scalar or a list, with their places; a map's texts are no values.
    private func texts(_ node: YAMLNode?) -> [(text: String, place: Place)] {
        guard let node else { return [] }
        return (node.isList ? node.children : [node]).compactMap { part in part.text.map { ($0, part.place) } }
    }

    private func pairs(_ node: YAMLNode?) -> [(key: YAMLNode, value: YAMLNode)] {
        guard let node, node.isMap else { return [] }
        let children = node.children
        return stride(from: 0, to: children.count, by: 2).map { (children[$0], children[$0 + 1]) }
    }
}
