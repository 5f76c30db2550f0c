// SPDX-License-Identifier: Apache-2.0

/// What a watcher must hold before it polls a source, delivers to a sink, or evaluates the deadlines of a rule.
///
/// A sink is held as a whole and not by its lanes: its rate, its circuit breaker and the pause after a refusal are one
/// state, which two watchers cannot have.
public enum Lease: Sendable, Hashable {
    case source(String)
    case sink(String)
    case rule(String)

    /// The lease as the journal writes it.
    public var text: String {
        switch self {
        case .source(let name): "source/" + name
        case .sink(let name): "sink/" + name
        case .rule(let name): "rule/" + name
        }
    }
}

/// What the rules of other watchers changed.
public struct RuleChanges: Sendable {
    /// The number of the last change that these include.
    public var version: Int64
    /// The rows of rules; nil for a deleted one.
    public var memories: [RuleMemory.Key: RuleMemory?]
    /// The records of sources that had events or other items.
    public var records: [SourceRecord]
    /// All silences as they are now.
    public var silences: [Silence]

    /// Creates a value.
    public init(
        version: Int64, memories: [RuleMemory.Key: RuleMemory?], records: [SourceRecord], silences: [Silence]
    ) {
        (self.version, self.memories, self.records, self.silences) = (version, memories, records, silences)
    }
}

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

/// One watcher's part of a journal that several watchers write at once.
///
/// A watcher is registered for 15 s, which its journal renews. One that is late loses its leases to the others, and none
/// of its commits is accepted any more.
public protocol JournalShares: Sendable {
    /// The number of this watcher's registration.
    var writer: Int64 { get }

    /// The name of this watcher; see `RegisteredWatcher.name`.
    var name: String { get }

    /// Reads the registered watchers, this one included.
    func watchers() async throws(JournalError) -> [RegisteredWatcher]

    /// Records that this watcher has another configuration now, which is then the newest.
    func configure(_ digest: String) async throws(JournalError)

    /// Takes leases that nobody holds.
    /// - Returns: those of them that this watcher holds now.
    func take(_ leases: Set<Lease>) async throws(JournalError) -> Set<Lease>

    /// Gives leases back. Nothing of them may be under way.
    func release(_ leases: Set<Lease>) async throws(JournalError)

    /// Reads what other watchers changed after a version, or everything that rules remember.
    /// - Parameter version: nil for everything.
    func ruleChanges(after version: Int64?) async throws(JournalError) -> RuleChanges

    /// Yields when another watcher came, went, gave leases back or committed something, and every five seconds, since such
    /// a hint may be lost. The stream ends when its consumer is cancelled.
    func shareWakes() throws(JournalError) -> AsyncStream<Void>
}
