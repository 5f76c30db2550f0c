// SPDX-License-Identifier: Apache-2.0

/// One or several values that a record may have at a path.
public struct RecordCondition: Sendable, Hashable {
    /// The path that stands for the name of a server-sent event.
    public static let event = "$event"

    /// A path in the record, or `$event`.
    public var path: String
    /// The texts of which the record must have one.
    public var values: [String]

    /// Creates a condition.
    public init(_ path: String, _ values: [String]) { (self.path, self.values) = (path, values) }

    /// Whether it is about the name of a server-sent event.
    public var isAboutEvent: Bool { path == RecordCondition.event }
}
