// SPDX-License-Identifier: Apache-2.0

/// A bound that a rule names. A measure changes with every poll, so it makes an event only when it crosses a bound.
public enum Threshold: Sendable, Hashable {
    /// Values greater than this.
    case above(Double)
    /// Values less than this.
    case below(Double)

    /// Returns whether the value lies beyond the bound; false when it is absent or no number.
    /// - Parameter sign: the decimal sign of its field; see `Item.decimals`.
    public func contains(_ value: Value?, decimal sign: Character? = nil) -> Bool {
        guard let number = value.flatMap({ WrittenNumber.read($0, decimal: sign) }) else { return false }
        switch self {
        case .above(let bound): return number > bound
        case .below(let bound): return number < bound
        }
    }

    /// Returns whether a change from `old` to `new` crosses the bound.
    public func isCrossed(from old: Value?, to new: Value?) -> Bool { contains(old) != contains(new) }

    /// Returns why a change to a value beyond the bound does not cross it, as a sentence; nil when it does. A value crosses
    /// a bound once: a further step on the same side does not match again.
    func mismatch(of change: FieldChange, decimal sign: Character?) -> String? {
        guard let from = change.from, contains(from, decimal: sign) else { return nil }
        let side =
            switch self {
            case .above(let bound): "above \(bound)"
            case .below(let bound): "below \(bound)"
            }
        return "\(change.field) was \(side) before, at '\(from.description)', so it did not cross it"
    }
}

extension ValueMatcher {
    /// The bound that it tests; nil for any other matcher.
    public var threshold: Threshold? {
        switch self {
        case .above(let bound): .above(bound)
        case .below(let bound): .below(bound)
        default: nil
        }
    }

    /// The bound that it tests, also under `not`.
    var bound: Threshold? {
        if case .not(let part) = self { return part.bound }
        return threshold
    }
}
