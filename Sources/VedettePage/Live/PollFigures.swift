// SPDX-License-Identifier: Apache-2.0

/// What this watcher knows of its polls and no journal keeps.
public struct PollFigures: Sendable {
    /// Returns how many polls are under way.
    public var inFlight: @Sendable () -> Int
    /// Returns how many streams are open.
    public var streams: @Sendable () -> Int
    /// Returns the seconds that each of the last polls of a source took, the oldest first; none for what another watcher
    /// polls.
    public var durations: @Sendable (_ source: String) async -> [Double]

    /// Creates a value.
    public init(
        inFlight: @escaping @Sendable () -> Int, streams: @escaping @Sendable () -> Int,
        durations: @escaping @Sendable (_ source: String) async -> [Double]
    ) {
        (self.inFlight, self.streams, self.durations) = (inFlight, streams, durations)
    }
}
