// SPDX-License-Identifier: Apache-2.0

/// Times in which a rule does not disturb.
public struct Quiet: Sendable {
    /// What happens to a match inside a window.
    public enum Action: String, Sendable, CaseIterable {
        /// It is suppressed.
        case drop
        /// The latest one is sent when the quiet time ends, if it is still true.
        case `defer`
        /// All of them are sent in one message when the quiet time ends.
        case digest
    }

    /// The windows; where they meet they are one quiet time.
    public var windows: [CivilWindow]
    /// `during`: the windows outside of which it is quiet, too; empty for none.
    public var outside: [CivilWindow]
    /// `then`: what happens to a match inside a window.
    public var action: Action

    /// Creates quiet times.
    public init(windows: [CivilWindow], outside: [CivilWindow] = [], action: Action) {
        (self.windows, self.outside, self.action) = (windows, outside, action)
    }

    /// Returns the end of the span that `time` is in, and what it is called; nil when it is in none.
    func span(at time: Timestamp, _ civil: any CivilTime) -> (name: String, end: Timestamp)? {
        var spans = windows.compactMap { window in
            window.end(of: time, civil).map { (name: "during '\(window.name)'", end: $0) }
        }
        if !outside.isEmpty, outside.allSatisfy({ $0.end(of: time, civil) == nil }) {
            // Of windows that are over it is asked again in a year.
            let start =
                outside.compactMap { $0.start(after: time, civil) }.min() ?? time.advanced(by: .seconds(366 * 86_400))
            let names = outside.reduce(into: [String]()) { if !$0.contains($1.name) { $0.append($1.name) } }
            spans.append((name: "outside of '\(names.joined(separator: "', '"))'", end: start))
        }
        return spans.max { $0.end < $1.end }
    }
}
