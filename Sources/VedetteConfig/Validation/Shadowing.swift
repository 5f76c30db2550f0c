// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Finds rules that never get an event, because an earlier rule with `stop` matches whatever they match.
enum Shadowing {
    /// Reports each rule that an earlier one with `stop` shadows.
    static func validate(_ rules: [ReadRule], _ findings: Findings) {
        var stopping: [ReadRule] = []
        for read in rules {
            if let earlier = stopping.first(where: { read.rule.when.implies($0.rule.when) }) {
                findings.warn(
                    read.place,
                    "the rule '\(read.rule.name)' never matches: '\(earlier.rule.name)' before it matches the same events and stops; move it before that rule, or remove one"
                )
            }
            if read.rule.stop { stopping.append(read) }
        }
    }
}

extension Condition {
    /// Returns whether every event that matches this condition certainly matches another one, too.
    func implies(_ other: Condition) -> Bool {
        if case .all(let others) = other { return others.allSatisfy(implies) }
        if case .any(let parts) = self { return !parts.isEmpty && parts.allSatisfy { $0.implies(other) } }
        if case .any(let others) = other, others.contains(where: implies) { return true }
        if case .all(let parts) = self { return parts.contains { $0.implies(other) } }
        switch (self, other) {
        case (.source(let names, _), .source(let others, _)): return names.isSubset(of: others)
        case (.item(let name, let matcher), .item(let otherName, let other)):
            return name == otherName && matcher.implies(other)
        case (.field(let name, let from, let to), .field(let otherName, let otherFrom, let otherTo)):
            guard name == otherName, otherFrom.map({ wanted in from?.implies(wanted) ?? false }) ?? true else {
                return false
            }
            // A value that crosses one bound does not cross another one.
            return otherTo.map { wanted in to?.implies(wanted, atCrossing: true) ?? false } ?? true
        case (.field(let name, _, _), .changes(let names)), (.by(let name, _), .changes(let names)):
            return names.contains(name)
        case (.by(let name, _), .field(let otherName, .none, .none)): return name == otherName
        case (.by(let name, let delta), .by(let otherName, let other)): return name == otherName && delta == other
        case (.changes(let names), .changes(let others)): return Set(names).isSubset(of: others)
        case (.appears, .appears), (.disappears, .disappears): return true
        case (.sourceState(let kinds), .sourceState(let others)): return kinds.isSubset(of: others)
        default: return false
        }
    }
}

extension ValueMatcher {
    /// Returns whether every value that matches certainly matches another matcher, too.
    /// - Parameter atCrossing: whether bounds must be crossed, so that only equal ones imply each other.
    func implies(_ other: ValueMatcher, atCrossing: Bool = false) -> Bool {
        switch (self, other) {
        case (.oneOf(let values), .oneOf(let others)): return Set(values).isSubset(of: others)
        case (.oneOf, .above), (.oneOf, .below): return false
        case (.oneOf(let values), _):
            return values.allSatisfy { value in
                do { return try other.matches(.text(value)) } catch { return false }
            }
        case (.glob(let glob), .glob(let other)): return glob == other || other.text == "*"
        case (.regex(_, let text), .regex(_, let other)): return text == other
        case (.contains(let part), .contains(let other)): return part.contains(other)
        case (.above(let bound), .above(let other)): return atCrossing ? bound == other : bound >= other
        case (.below(let bound), .below(let other)): return atCrossing ? bound == other : bound <= other
        default: return false
        }
    }
}
