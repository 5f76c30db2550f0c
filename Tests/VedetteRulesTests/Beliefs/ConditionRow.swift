// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A row of the table of conditions: what begins a match, what ends it, and whether a match is found among stored items.
struct ConditionRow: CustomStringConvertible, Sendable {
    enum Step: Sendable {
        /// An item that was in one state is in another one; its other fields may be given, too.
        case state(String, was: String, team: String = "x")
        case appears(String, team: String = "x")
        case gone(String)
        /// A field changes, and the state stays.
        case field(String, String, was: String, state: String = "up")
        case source(Event.Kind)
        /// A poll without an event.
        case poll
        /// The items of the source are these, as states by key.
        case items([String])
        case wait(Int)
    }

    let name: String
    let condition: Condition
    /// What must not begin a match.
    var unmatched: [[Step]] = []
    let begins: [[Step]]
    /// What ends it after the first line of `begins`.
    let ends: [[Step]]
    /// What does not end it after the first line of `begins`.
    var goesOn: [[Step]] = []
    /// The state in which a stored item matches; nil where stored items are not asked.
    var found: String?
    /// A further field of that item.
    var foundFields: Fields = ["team": "x"]
    /// What the engine does otherwise today, and which answer of the plan changes it; nil for nothing.
    var differences: [Difference: String] = [:]

    enum Difference: Hashable, Sendable {
        /// The line of that number in `unmatched`, `begins`, `ends` or `goesOn` has another outcome.
        case unmatched(Int), begins(Int), ends(Int), goesOn(Int), found
    }

    var description: String { name }
}
