// SPDX-License-Identifier: Apache-2.0

/// By how much a number must have changed: `10`, `5%`, `+5%` for a rise, `-10` for a fall.
public struct Delta: Sendable, Hashable {
    public enum Direction: Sendable, Hashable {
        case rise, fall, either
    }

    /// Above zero.
    public var amount: Double
    /// Of the old value.
    public var isPercent: Bool
    public var direction: Direction

    /// Nil when it is no such number.
    public init?(_ text: String) {
        var rest = text[...]
        direction = rest.hasPrefix("+") ? .rise : rest.hasPrefix("-") ? .fall : .either
        if direction != .either { rest = rest.dropFirst() }
        isPercent = rest.hasSuffix("%")
        if isPercent { rest = rest.dropLast() }
        guard rest.first?.isNumber == true, let number = Double(rest), number > 0, number.isFinite else { return nil }
        amount = number
    }

    /// Nil when the change is large enough; else why it is not.
    func unmet(by change: FieldChange) -> String? {
        guard let from = change.from.flatMap({ Double($0.description) }),
            let to = change.to.flatMap({ Double($0.description) })
        else {
            let (from, to) = (change.from?.description ?? "absent", change.to?.description ?? "absent")
            return "\(change.field) went from '\(from)' to '\(to)', which are not both numbers"
        }
        let step = to - from
        // From zero every step is beyond any part of it.
        let needed = isPercent ? abs(from) * amount / 100 : amount
        let isRightWay = direction == .either || (direction == .rise) == (step > 0)
        // 0.3 less 0.2 is a little less than 0.1 in binary.
        guard isRightWay, abs(step) >= needed * (1 - 1e-9), step != 0 else {
            return "\(change.field) changed by \(JSON.number(rounded: step).text), not by \(description)"
        }
        return nil
    }

    /// As it is written.
    public var description: String {
        let sign =
            switch direction {
            case .rise: "+"
            case .fall: "-"
            case .either: ""
            }
        return sign + JSON.number(rounded: amount).text + (isPercent ? "%" : "")
    }
}
