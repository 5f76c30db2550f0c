// SPDX-License-Identifier: Apache-2.0

/// A change of a sink that outlasts a restart.
public enum SinkChange: Sendable, Hashable {
    /// It refused messages, and is paused or disabled until a person acts; or it began to fail.
    case stopped(StoppedSink)
    /// It takes messages again.
    case resumed(String)

    /// The sink's name.
    public var sink: String {
        switch self {
        case .stopped(let stop): stop.sink
        case .resumed(let sink): sink
        }
    }

    /// What happened, for the log.
    public var verb: String {
        switch self {
        case .stopped: "stopped"
        case .resumed: "resumed"
        }
    }
}
