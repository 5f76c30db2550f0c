// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Finds conditions that no event can meet. It reports only what is certain: a field may be a list, of which different
/// elements meet different conditions.
struct Contradiction {
    /// What to write instead of conditions on two items or sources.
    private static let remedy = "ask for the other one with 'if' beside 'when'"
    /// The names that tell items apart.
    private static let naming: Set<String> = ["key", "title", "name", "url"]
    /// The names whose value is always one text.
    private static let single: Set<String> = ["state", "key", "title", "name", "url"]

    private var kinds = Set(Event.Kind.allCases).subtracting([.unknown])
    private var sources: Set<String>?
    /// What each field must be after the event, and before it.
    private var values: [String: [ValueMatcher]] = [:]
    private var earlier: [String: [ValueMatcher]] = [:]
    private var reason: String?

    /// Returns why the condition can never match; nil when it may.
    static func find(in condition: Condition) -> String? {
        var contradiction = Contradiction()
        contradiction.require(condition)
        return contradiction.reason ?? contradiction.impossibleValue()
    }

    private mutating func require(_ condition: Condition) {
        switch condition {
        case .all(let parts): for part in parts { require(part) }
        case .any(let parts):
            let reasons = parts.map(Contradiction.find)
            if !parts.isEmpty, !reasons.contains(nil) { reason = reason ?? reasons.compactMap { $0 }.first }
        case .source(let names, _):
            let both = sources.map { $0.intersection(names) } ?? names
            if both.isEmpty, !names.isEmpty { reason = reason ?? "an event is of one source; \(Contradiction.remedy)" }
            sources = both
        case .item(let name, let matcher):
            require([.appeared, .changed, .disappeared], "about an item")
            values[name, default: []].append(matcher)
        case .field(let name, let from, let to):
            require(from == nil ? [.appeared, .changed] : [.changed], "a change of '\(name)'")
            if let from { earlier[name, default: []].append(from) }
            if let to { values[name, default: []].append(to) }
        case .by(let name, _): require([.changed], "a change of '\(name)'")
        case .changes: require([.appeared, .changed], "a change")
        case .appears: require([.appeared], "of a new item")
        case .disappears: require([.disappeared], "of an item that is gone")
        case .sourceState(let kinds): require(kinds, "about a source, a sink or the watcher")
        default: break
        }
    }

    private var words: [String] = []

    private mutating func require(_ kinds: Set<Event.Kind>, _ word: String) {
        if !self.kinds.isEmpty, self.kinds.isDisjoint(with: kinds) {
            let other = words.last.map { "\($0) and \(word)" } ?? word
            reason = reason ?? "no event is \(other) at once; use 'any' for either"
        }
        self.kinds.formIntersection(kinds)
        words.append(word)
    }

    private func impossibleValue() -> String? {
        for (fields, word) in [(values, "is"), (earlier, "was")] {
            for (name, matchers) in fields.sorted(by: { $0.key < $1.key }) {
                if let (first, second) = Contradiction.impossible(name, matchers) {
                    let isOfTwo = Contradiction.naming.contains(name)
                    return "'\(name)' never \(word) \(first) and \(second) at once"
                        + (isOfTwo ? "; an event is about one item, so \(Contradiction.remedy)" : "")
                }
            }
        }
        return nil
    }

    /// Returns two matchers that no value meets.
    private static func impossible(_ name: String, _ matchers: [ValueMatcher]) -> (String, String)? {
        guard single.contains(name) else { return nil }
        for (i, first) in matchers.enumerated() {
            guard case .oneOf(let values) = first else { continue }
            for (j, second) in matchers.enumerated() where j != i {
                let isMet = values.contains { value in
                    // A pattern that hits its limit may match.
                    do { return try second.matches(.text(value)) } catch { return true }
                }
                if !isMet { return (first.description, second.description) }
            }
        }
        for case .above(let low) in matchers {
            for case .below(let high) in matchers where high <= low { return ("above \(low)", "below \(high)") }
        }
        return nil
    }
}
