// SPDX-License-Identifier: Apache-2.0

/// What `doctor` checks of this desktop: the bus, the daemon and its capabilities.
public struct DesktopFacts: Sendable, Hashable {
    /// The daemon's answer to `GetServerInformation` (Desktop Notifications Specification).
    public struct Daemon: Sendable, Hashable {
        public var name: String
        public var vendor: String
        public var version: String
        /// The version of the specification that it follows.
        public var specification: String

        public init(name: String, vendor: String = "", version: String = "", specification: String = "") {
            (self.name, self.vendor, self.version, self.specification) = (name, vendor, version, specification)
        }
    }

    public enum State: Sendable, Hashable {
        /// - Parameter reason: one sentence with the remedy.
        case noBus(reason: String)
        case noDaemon(reason: String)
        case ready(Daemon, capabilities: Set<String>)
    }

    /// The address of the session bus; nil when none is configured.
    public var bus: String?
    public var state: State

    public init(bus: String?, state: State) { (self.bus, self.state) = (bus, state) }

    /// Reads the state, without showing anything. For a stopped daemon this takes 5 s; for a stopped bus it takes for ever,
    /// so limit the wait.
    public static func now() async -> DesktopFacts {
        let state: State
        do throws(DesktopProblem) {
            let (fields, capabilities) = try await Notifier.shared.serverInformation()
            let daemon = Daemon(name: fields[0], vendor: fields[1], version: fields[2], specification: fields[3])
            state = .ready(daemon, capabilities: capabilities)
        } catch {
            switch error {
            case .noBus: state = .noBus(reason: error.description)
            case .noDaemon: state = .noDaemon(reason: error.description)
            }
        }
        return DesktopFacts(bus: SessionBus.address, state: state)
    }
}
