// SPDX-License-Identifier: Apache-2.0

/// What the engine must know about the health of sources when it starts.
public struct SourceHealth: Sendable {
    /// Why each failing source fails.
    public var failing: [String: String] = [:]
    /// The sources whose response means down.
    public var down = Set<String>()
    /// The server of each source, as a person knows it.
    public var servers: [String: String] = [:]

    /// Creates a health in which nothing fails.
    public init() {}
}
