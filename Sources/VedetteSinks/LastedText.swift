// SPDX-License-Identifier: Apache-2.0

/// How long something lasted, for people: the two largest units.
public enum LastedText {
    /// `4 min 12 s`, `2 h 5 min`, `3 d`, `less than 1 s`.
    public static func of(seconds: Double) -> String {
        guard seconds >= 1 else { return "less than 1 s" }
        let whole = seconds < 1e15 ? Int(seconds) : Int(1e15)
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return join(whole / 60, "min", whole % 60, "s")
        case ..<86_400: return join(whole / 3600, "h", whole / 60 % 60, "min")
        default: return join(whole / 86_400, "d", whole / 3600 % 24, "h")
        }
    }

    private static func join(_ large: Int, _ largeUnit: String, _ small: Int, _ smallUnit: String) -> String {
        small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
    }
}
