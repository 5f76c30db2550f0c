// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads `when`.
struct ConditionReader {
    let values: ValueReader

    private var findings: Findings { values.findings }
    private var matchers: MatcherReader { MatcherReader(values: values) }

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
        guard
            let map = MapReader(
                node, "'when'", keys: ConfigurationKeys.when, remedies: ConfigurationKeys.misplacedInWhen, values)
        else { return nil }
        if map.has("how_many") { checkCount(map, depth: depth) }
        var parts: [Condition] = []
        if map.has("source") {
            let (names, text) = sources(map, scope)
            scope = scope.among(names)
            parts.append(.source(names, text: text))
        }
        // Under `how_many` they select the items that count.
        if !map.has("how_many") {
            parts += matchers.items(map, "item", scope).map { Condition.item($0.name, $0.matcher) }
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
            guard let node = map.node(name), let elements = node.elements("'\(name)'", findings) else { continue }
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
        if let node = map.node("not") {
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
    private func sources(_ map: MapReader, _ scope: NameScope) -> (Set<String>, String) {
        var found = Set<String>()
        var texts: [String] = []
        for (text, place) in map.words("source") {
            texts.append("'\(text)'")
            if scope.fields.keys.contains(text) {
                found.insert(text)
                continue
            }
            let matching = Glob.isGlob(text) ? scope.names.filter(Glob(text).matches) : []
            found.formUnion(matching)
            guard matching.isEmpty else { continue }
            findings.error(
                place,
                Glob.isGlob(text)
                    ? "'\(text)' matches no source\(MapReader.list(scope.names))"
                    : MapReader.unknown("source", text, among: scope.names))
        }
        return (found, texts.joined(separator: " or "))
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
        guard let name = given.first else { return nil }
        switch name {
        case "field": return field(map, scope)
        case "stays": return stays(map, scope)
        case "how_many": return map.object("how_many").flatMap { howMany($0, map, scope) }
        case "appears": return isTrue(map, name) ? .appears : nil
        case "disappears": return isTrue(map, name) ? .disappears : nil
        case "changes":
            return .changes(
                map.words(name).map { name, place in
                    scope.check(field: name, at: place, findings)
                    return name
                })
        default:
            let kinds = ConfigurationKeys.sourceStates + ConfigurationKeys.sinkStates
            let states = map.texts(name).compactMap { word in kinds.first { $0.word == word } }
            // Without one an error is reported already, and an empty set would be reported as a contradiction, too.
            return states.isEmpty ? nil : .sourceState(Set(states))
        }
    }

    private func field(_ map: MapReader, _ scope: NameScope) -> Condition? {
        guard let name = map.field("field", in: scope) else { return nil }
        if map.has("older") {
            for other in ["from", "to", "by", "compare"] where map.has(other) {
                findings.error(map.key(other), "'\(other)' is about a change, but 'older' is not; remove one")
            }
            return map.duration("older").map { .older(name, $0) }
        }
        let from = map.node("from").flatMap { matchers.matcher($0, "'from'") }
        let to = map.node("to").flatMap { matchers.matcher($0, "'to'") }
        guard let text = map.text("by") else {
            if map.has("compare") { findings.error(map.key("compare"), "'compare' needs 'by', as 'by: 5%'") }
            return .field(name, from: from, to: to)
        }
        guard var delta = Delta(text) else {
            map.refuse(
                "by", "'by' is a number or a percentage above zero as 10, 5%, +5% or -10, not '\(text)'")
            return nil
        }
        delta.comparesWithAnnounced = map.text("compare") != "previous"
        let by = Condition.by(name, delta)
        return from == nil && to == nil ? by : .all([.field(name, from: from, to: to), by])
    }

    /// Reads `stays`: a change to the value is the match, and `for` is how long it must last.
    private func stays(_ map: MapReader, _ scope: NameScope) -> Condition? {
        for name in ["from", "to", "by", "compare"] where map.has(name) {
            findings.error(map.key(name), "'\(name)' is about a change, but 'stays' is not; remove one")
        }
        let name = map.has("field") ? map.field("field", in: scope) : "state"
        guard let name, let value = map.node("stays").flatMap({ matchers.matcher($0, "'stays'") }) else { return nil }
        return .stays(name, value)
    }

    /// Reads `how_many`, which counts the items of the one source of the same map.
    private func howMany(_ count: MapReader, _ map: MapReader, _ scope: NameScope) -> Condition? {
        guard scope.names.count == 1, let source = scope.names.first else {
            findings.error(count.node.place, "'how_many' counts the items of one source; name it as 'source: NAME'")
            return nil
        }
        guard count.has("state") != count.has("field"), count.has("field") == count.has("is") else {
            findings.error(count.node.place, "'how_many' takes 'state', or 'field' with 'is'")
            return nil
        }
        guard count.has("below") != count.has("above") else {
            findings.error(count.node.place, "'how_many' takes one of 'below' and 'above'")
            return nil
        }
        if let below = count.number("below"), below <= 0 {
            let text = count.value("below")?.text ?? ""
            count.refuse("below", "no number of items is below \(text), so that this never matches; write 1 or more")
        }
        if let above = count.number("above"), above < 0 {
            let text = count.value("above")?.text ?? ""
            count.refuse("above", "each number of items is above \(text), so that none crosses it; write 0 or more")
        }
        let field = count.field("field", in: scope) ?? "state"
        let value = (count.node("state") ?? count.node("is")).flatMap { matchers.matcher($0, "'how_many'") }
        let bound = count.number("below").map(Threshold.below) ?? count.number("above").map(Threshold.above)
        guard let value, let bound else { return nil }
        let items = matchers.items(map, "item", scope)
        return .howMany(
            ItemCount(SourceCondition(source: source, items: items, field: field, matcher: value), bound: bound))
    }

    private func isTrue(_ map: MapReader, _ name: String) -> Bool {
        guard let flag = map.flag(name) else { return false }
        if !flag { map.refuse(name, "'\(name): false' has no effect; remove it, or use 'not'") }
        return flag
    }
}
