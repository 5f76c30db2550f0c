// SPDX-License-Identifier: Apache-2.0

/// What the evaluation of rules is based on. A commit is refused with `.conflict` where another watcher has changed any of
/// it since.
public struct RuleBasis: Sendable, Hashable {
    /// The watcher that evaluated, `RegisteredWatcher.number`.
    public var writer: Int64
    /// The changes of other watchers up to this number are known to it.
    public var version: Int64
    /// The rules whose shared rows it may have read. Those that it changed it names itself.
    public var rules: Set<String>
    /// Other sources whose items or health it read.
    public var sources: Set<String>

    /// Creates a value.
    public init(writer: Int64, version: Int64, rules: Set<String>, sources: Set<String>) {
        (self.writer, self.version, self.rules, self.sources) = (writer, version, rules, sources)
    }
}
