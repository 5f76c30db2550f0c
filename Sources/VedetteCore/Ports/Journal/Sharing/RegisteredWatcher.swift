// SPDX-License-Identifier: Apache-2.0

/// A watcher that is registered with a journal.
public struct RegisteredWatcher: Sendable, Hashable {
    /// Grows with each registration.
    public var number: Int64
    /// `settings.watcher`.
    public var name: String
    /// The process, with the name of its machine.
    public var process: WatcherProcess
    /// When it registered, by the database's clock.
    public var started: Timestamp
    /// A digest of its configuration.
    public var configuration: String
    /// Grows whenever a watcher starts or takes another configuration.
    public var configured: Int64
    /// The time until it counts as gone, by the database's clock; negative when it is late.
    public var left: Duration
    /// Whether two renewals are missing.
    public var isLate: Bool { left < Lease.term - Lease.renewal * 2 }
    /// The sources that it polls.
    public var sources: Int
    /// The sinks that it delivers to.
    public var sinks: Int

    /// Creates a value.
    public init(
        number: Int64, name: String, process: WatcherProcess, started: Timestamp, configuration: String,
        configured: Int64, left: Duration, sources: Int = 0, sinks: Int = 0
    ) {
        (self.number, self.name, self.process, self.started) = (number, name, process, started)
        (self.configuration, self.configured, self.left) = (configuration, configured, left)
        (self.sources, self.sinks) = (sources, sinks)
    }
}
