// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A sink as `status` shows it.
struct SinkStatus: Sendable {
    /// The oldest message that waits for another attempt.
    struct Waiting: Sendable, Hashable {
        /// Why its last attempt failed.
        var reason: String
        /// When the next one is due.
        var due: Timestamp
    }

    let name: String
    /// Whether the receiver's certificate is not verified.
    var isInsecure = false
    var count: SinkCount
    var activity: SinkActivity
    /// Set while it takes no messages until a person acts.
    var stop: StoppedSink?
    var waiting: Waiting?

    init(name: String) {
        self.name = name
        (count, activity) = (SinkCount(sink: name), SinkActivity(sink: name))
    }
}
