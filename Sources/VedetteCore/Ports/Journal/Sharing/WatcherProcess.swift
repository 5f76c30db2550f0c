// SPDX-License-Identifier: Apache-2.0

/// The process that watches with a journal.
public struct WatcherProcess: Sendable, Hashable {
    public var pid: Int32
    /// The name of its machine; nil for this one.
    public var host: String?

    /// The process as a person is told: `process 4711 on db1`.
    public var text: String { "process \(pid)" + (host.map { " on \($0)" } ?? "") }

    public init(pid: Int32, host: String? = nil) { (self.pid, self.host) = (pid, host) }
}
