// SPDX-License-Identifier: Apache-2.0

/// The least change of a number that matches: `10`, `5%`, `+5%` for a rise, `-10` for a fall.
public struct Delta: Sendable, Hashable {
    /// Which changes count.
    public enum Direction: Sendable, Hashable {
        case rise, fall, either
    }

    /// The least step, above zero.
    public var amount: Double
    /// Whether `amount` is a percentage of the old value.
    public var isPercent: Bool
    /// Which changes count.
    public var direction: Direction
    /// Whether the change is measured from the value that the last message announced, and not from the poll before. A slow
    /// drift would else never be large enough.
    public var comparesWithAnnounced = true

    /// Reads what `by` says; returns nil when it is no such number.
    public init?(_ text: String) {
        var rest = text[...]
        direction = rest.hasPrefix("+") ? .rise : rest.hasPrefix("-") ? .fall : .either
        if direction != .either { rest = rest.dropFirst() }
        isPercent = rest.hasSuffix("%")
        if isPercent { rest = rest.dropLast() }
        guard rest.first?.isNumber == true, let number = Double(rest), number > 0, number.isFinite else { return nil }
        amount = number
    }

    /// Returns nil when the change is large enough, else the reason why it is not.
    func mismatch(with change: FieldChange, decimal sign: Character? = nil) -> String? {
        func read(_ value: Value?) -> Double? { value.flatMap { WrittenNumber.read($0, decimal: sign) } }
        guard let from = read(change.from), let to = read(change.to)
        else {
            let (from, to) = (change.from?.description ?? "absent", change.to?.description ?? "absent")
            return "\(change.field) went from '\(from)' to '\(to)', which are not both numbers"
        }
        let step = to - from
        // Any percentage of zero is zero, so from zero every step is large enough.
        let needed = isPercent ? abs(from) * amount / 100 : amount
        let hasDirection = direction == .either || (direction == .rise) == (step > 0)
        // In binary floating point 0.3 - 0.2 is a little less than 0.1.
        guard hasDirection, abs(step) >= needed * (1 - 1e-9), step != 0 else {
            return "\(change.field) changed by \(JSON.number(rounded: step).text), not by \(description)"
        }
        return nil
    }

    /// The text as the configuration has it.
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
