// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads `when`.
struct ConditionReader {
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }
    private var matchers: MatcherReader { MatcherReader(findings: findings) }

    /// The deepest nesting of `all`, `any` and `not`.
    private static let maximumNesting = 16

    /// Reads the condition of a rule, and the sources that it can match. The condition must select events.
    func condition(_ node: YAMLNode, _ scope: NameScope) -> (
        condition: Condition, scope: NameScope, matchesExisting: Bool
    )? {
        var scope = scope
        guard let part = read(node, &scope, depth: 0) else { return nil }
        if !part.selectsEvents {
            findings.error(
                node.place,
                "'when' does not select events; add one of "
                    + ConfigurationKeys.eventConditions.map { "'\($0)'" }.joined(separator: ", "))
        }
        return (part.condition, scope, part.matchesExisting)
    }

    /// The condition of one map.
    private struct Part {
        var condition: Condition
        /// Whether it selects events.
        var selectsEvents: Bool
        /// Whether it has `stays`, so that existing items count.
        var matchesExisting: Bool
    }

    private func read(_ node: YAMLNode, _ scope: inout NameScope, depth: Int) -> Part? {
        guard depth <= ConditionReader.maximumNesting else {
            findings.error(
                node.place, "conditions are nested deeper than \(ConditionReader.maximumNesting); use several rules")
            return nil
        }
        guard let map = MapReader(node, "'when'", keys: ConfigurationKeys.when, findings) else { return nil }
        if map.has("how_many") { checkCount(map, depth: depth) }
        var parts: [Condition] = []
        if let source = map["source"], let (names, text) = sources(source, scope) {
            scope = scope.among(names)
            parts.append(.source(names, text: text))
        }
        // Under `how_many` they select the items that count.
        for name in ["item", "where"] where !map.has("how_many") {
            parts += map[name].map { items($0, name, scope) } ?? []
        }
        if let condition = eventCondition(map, scope) { parts.append(condition) }
        let nested = nested(map, scope, depth)
        parts += nested.map(\.condition)
        let selectsEvents =
            ConfigurationKeys.eventConditions.contains(where: map.has) || nested.contains(where: \.selectsEvents)
        return Part(
            condition: parts.count == 1 ? parts[0] : .all(parts), selectsEvents: selectsEvents,
            matchesExisting: map.has("stays") || map.has("older") || nested.contains(where: \.matchesExisting))
    }

    /// A count is about no event, so no other condition can be met at once.
    private func checkCount(_ map: MapReader, depth: Int) {
        if depth > 0 {
            findings.error(
                map.key("how_many"),
                "'how_many' is about no single event; write it directly under 'when' of its own rule")
        }
        for name in ["all", "any", "not"] where map.has(name) {
            findings.error(
                map.key(name), "'\(name)' is about one event, but 'how_many' is not; select its items with 'item'")
        }
    }

    private func nested(_ map: MapReader, _ scope: NameScope, _ depth: Int) -> [Part] {
        var parts: [Part] = []
        for name in ["all", "any"] {
            guard let node = map[name], let elements = node.elements("'\(name)'", findings) else { continue }
            if elements.isEmpty { findings.error(node.place, "'\(name)' is an empty list; write a condition") }
            let read = elements.compactMap { element in
                var inner = scope
                return self.read(element, &inner, depth: depth + 1)
            }
            let conditions = read.map(\.condition)
            let hasTimedAlternative = name == "any" && conditions.contains(where: \.isTimed)
            if hasTimedAlternative {
                findings.error(map.key(name), "'older' under 'any' has no time of its own; write a rule for it")
            }
            parts.append(
                Part(
                    condition: name == "all" ? .all(conditions) : .any(conditions),
                    selectsEvents: name == "all"
                        ? read.contains(where: \.selectsEvents) : read.allSatisfy(\.selectsEvents),
                    matchesExisting: !hasTimedAlternative && read.contains(where: \.matchesExisting)))
        }
        if let node = map["not"] {
            var inner = scope
            guard let part = read(node, &inner, depth: depth + 1) else { return parts }
            if part.matchesExisting {
                let word = part.condition.isTimed ? "older" : "stays"
                findings.error(map.key("not"), "'\(word)' under 'not' has no meaning; use 'item' under 'not'")
            }
            parts.append(Part(condition: .not(part.condition), selectsEvents: false, matchesExisting: false))
        }
        return parts
    }

    /// Reads names and globs; each must match a source.
    private func sources(_ node: YAMLNode, _ scope: NameScope) -> (Set<String>, String)? {
        guard let nodes = scalars.oneOrMany(node, "'source'") else { return nil }
        var found = Set<String>()
        var texts: [String] = []
        for node in nodes {
            guard let text = scalars.text(node, "'source'") else { return nil }
            texts.append("'\(text)'")
            if scope.fields.keys.contains(text) {
                found.insert(text)
                continue
            }
            let matching = Glob.isGlob(text) ? scope.names.filter(Glob(text).matches) : []
            found.formUnion(matching)
            guard matching.isEmpty else { continue }
            let known = scope.names.sorted().prefix(12).joined(separator: ", ")
            findings.error(
                node.place,
                Glob.isGlob(text)
                    ? "'\(text)' matches no source; known are \(known)"
                    : MapReader.unknown("source", text, among: scope.names))
        }
        return (found, texts.joined(separator: " or "))
    }

    private func items(_ node: YAMLNode, _ name: String, _ scope: NameScope) -> [Condition] {
        guard let entries = node.entries("'\(name)'", findings) else { return [] }
        return entries.flatMap { entry in
            scope.check(field: entry.name, at: entry.key.place, findings)
            return matchers.matchers(entry.value, "'\(entry.name)'").map { Condition.item(entry.name, $0) }
        }
    }
}

extension ConditionReader {
    private func eventCondition(_ map: MapReader, _ scope: NameScope) -> Condition? {
        // `field` beside `stays` is the field of `stays`.
        let given = ConfigurationKeys.eventConditions.filter { map.has($0) && !($0 == "field" && map.has("stays")) }
        if given.count > 1 {
            findings.error(
                map.key(given[1]),
                "'\(given[1])' excludes '\(given[0])': 'when' takes one of "
                    + ConfigurationKeys.eventConditions.joined(separator: ", ") + "; use 'any' for several")
        }
        if !map.has("field"), !map.has("stays") {
            for name in ["from", "to", "by", "compare", "older"] where map.has(name) {
                findings.error(map.key(name), "'\(name)' needs 'field', as 'field: state'")
            }
        }
        guard let name = given.first, let node = map[name] else { return nil }
        switch name {
        case "field": return field(node, map, scope)
        case "stays": return stays(node, map, scope)
        case "how_many": return howMany(node, map, scope)
        case "appears": return isTrue(node, name) ? .appears : nil
        case "disappears": return isTrue(node, name) ? .disappears : nil
        case "changes":
            guard let nodes = scalars.oneOrMany(node, "'changes'") else { return nil }
            return .changes(nodes.compactMap { self.name($0, "'changes'", scope) })
        case "sink_state": return states(node, "'sink_state'", among: ConditionReader.sinkStates)
        default: return states(node, "'source_state'", among: ConditionReader.sourceStates)
        }
    }

    private func name(_ node: YAMLNode, _ what: String, _ scope: NameScope) -> String? {
        guard let name = scalars.text(node, what) else { return nil }
        scope.check(field: name, at: node.place, findings)
        return name
    }

    private func field(_ node: YAMLNode, _ map: MapReader, _ scope: NameScope) -> Condition? {
        guard let name = name(node, "'field'", scope) else { return nil }
        if let node = map["older"] {
            for other in ["from", "to", "by", "compare"] where map.has(other) {
                findings.error(map.key(other), "'\(other)' is about a change, but 'older' is not; remove one")
            }
            return scalars.duration(node, "'older'", atLeast: .seconds(1)).map { .older(name, $0) }
        }
        let from = map["from"].flatMap { matchers.matcher($0, "'from'") }
        let to = map["to"].flatMap { matchers.matcher($0, "'to'") }
        let comparison: Comparison? = map["compare"].flatMap { scalars.choice($0, "'compare'") }
        guard let node = map["by"], let text = scalars.text(node, "'by'") else {
            if map.has("compare") { findings.error(map.key("compare"), "'compare' needs 'by', as 'by: 5%'") }
            return .field(name, from: from, to: to)
        }
        guard var delta = Delta(text) else {
            findings.error(
                node.place, "'by' is a number or a percentage above zero as 10, 5%, +5% or -10, not '\(text)'")
            return nil
        }
        delta.comparesWithAnnounced = comparison != .previous
        let by = Condition.by(name, delta)
        return from == nil && to == nil ? by : .all([.field(name, from: from, to: to), by])
    }

    /// Reads `stays`: a change to the value is the match, and `for` is how long it must last.
    private func stays(_ node: YAMLNode, _ map: MapReader, _ scope: NameScope) -> Condition? {
        for name in ["from", "to", "by", "compare"] where map.has(name) {
            findings.error(map.key(name), "'\(name)' is about a change, but 'stays' is not; remove one")
        }
        let name = map.has("field") ? map["field"].flatMap { self.name($0, "'field'", scope) } : "state"
        guard let name, let value = matchers.matcher(node, "'stays'") else { return nil }
        return .stays(name, value)
    }

    /// Reads `how_many`: the items are those of the one source of the same map.
    private func howMany(_ node: YAMLNode, _ map: MapReader, _ scope: NameScope) -> Condition? {
        guard let count = MapReader(node, "'how_many'", keys: ConfigurationKeys.howMany, findings) else { return nil }
        guard scope.names.count == 1, let source = scope.names.first else {
            findings.error(node.place, "'how_many' counts the items of one source; name it as 'source: NAME'")
            return nil
        }
        guard count.has("state") != count.has("field"), count.has("field") == count.has("is") else {
            findings.error(node.place, "'how_many' takes 'state', or 'field' with 'is'")
            return nil
        }
        guard count.has("below") != count.has("above") else {
            findings.error(node.place, "'how_many' takes one of 'below' and 'above'")
            return nil
        }
        let field = count["field"].flatMap { name($0, "'field'", scope) } ?? "state"
        let value = (count["state"] ?? count["is"]).flatMap { matchers.matcher($0, "'how_many'") }
        let below = count["below"].flatMap { scalars.number($0, "'below'") }.map { Threshold.below($0) }
        let above = count["above"].flatMap { scalars.number($0, "'above'") }.map { Threshold.above($0) }
        guard let value, let bound = below ?? above else { return nil }
        let items = (map["item"] ?? map["where"])?.entries("'item'", findings) ?? []
        let conditions = items.flatMap { entry in
            scope.check(field: entry.name, at: entry.key.place, findings)
            return matchers.matchers(entry.value, "'\(entry.name)'").map { (name: entry.name, matcher: $0) }
        }
        return .howMany(
            ItemCount(SourceCondition(source: source, items: conditions, field: field, matcher: value), bound: bound))
    }

    /// The values of `compare`.
    private enum Comparison: String, CaseIterable {
        case told, previous
    }

    private func isTrue(_ node: YAMLNode, _ name: String) -> Bool {
        guard let flag = scalars.flag(node, "'\(name)'") else { return false }
        if !flag { findings.error(node.place, "'\(name): false' has no effect; remove it, or use 'not'") }
        return flag
    }

    /// The values of `source_state`.
    static let sourceStates: [Event.Kind] = [
        .failing, .recovered, .stale, .suspect, .offline, .online, .unequal, .equal,
    ]
    /// The values of `sink_state`.
    static let sinkStates: [Event.Kind] = [.paused, .disabled]

    private func states(_ node: YAMLNode, _ what: String, among kinds: [Event.Kind]) -> Condition? {
        guard let nodes = scalars.oneOrMany(node, what) else { return nil }
        let states = Set(nodes.compactMap { scalars.choice($0, what, among: kinds) })
        // Without one an error is reported already, and an empty set would be reported as a contradiction, too.
        return states.isEmpty ? nil : .sourceState(states)
    }
}
