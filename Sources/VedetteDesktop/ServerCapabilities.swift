// SPDX-License-Identifier: Apache-2.0

/// What stands between a message and a bubble on this desktop. Looking shows nothing.
public struct ServerCapabilities: Sendable, Hashable {
    /// What the daemon says of itself (Desktop Notifications Specification, `GetServerInformation`).
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

    /// The address of the session bus; nil when nothing says where it is.
    public var bus: String?
    public var state: State

    public init(bus: String?, state: State) { (self.bus, self.state) = (bus, state) }

    /// Asks now, on the notifications' own thread. A daemon that is stopped is told after 5 s; a bus that is stopped is
    /// waited for, so bound the wait.
    public static func now() async -> ServerCapabilities {
        let state: State
        do throws(DesktopProblem) {
            let (words, capabilities) = try await Notifier.shared.look()
            let daemon = Daemon(name: words[0], vendor: words[1], version: words[2], specification: words[3])
            state = .ready(daemon, capabilities: capabilities)
        } catch {
            switch error {
            case .noBus: state = .noBus(reason: error.description)
            case .noDaemon: state = .noDaemon(reason: error.description)
            }
        }
        return ServerCapabilities(bus: SessionBus.address, state: state)
    }
}
