// SPDX-License-Identifier: Apache-2.0

/// Compares the configurations of the watchers that share a journal. The one that was started, or given another
/// configuration, last has the newest: its sources, sinks and rules are those that count until all have the same.
public struct ConfigurationDrift: Sendable, Hashable {
    /// The watcher with the newest configuration; nil where none is registered.
    public let newest: RegisteredWatcher?
    /// The watchers that have another one, in the order of their names.
    public let others: [RegisteredWatcher]

    /// Compares.
    public init(_ watchers: [RegisteredWatcher]) {
        let newest = watchers.max { $0.configured < $1.configured }
        self.newest = newest
        others = watchers.filter { $0.configuration != newest?.configuration }.sorted { $0.name < $1.name }
    }

    /// Which watchers are not up to date; nil where all have the same configuration.
    public var cause: String? {
        guard let newest, !others.isEmpty else { return nil }
        let names = others.map(\.name).joined(separator: ", ")
        return "\(names) \(others.count == 1 ? "differs" : "differ") from \(newest.name), configured last"
    }

    /// What to do about it.
    public static let remedy = "give all watchers the same files, and reload them"
}
