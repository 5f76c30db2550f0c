// SPDX-License-Identifier: Apache-2.0

/// How long the last polls of one source took. It is kept in memory alone: a picture of the last polls needs no row.
struct PollDurations: Sendable {
    /// Polls that are kept. Of 10,000 sources they take about 1 MB.
    static let limit = 20

    private var values: [Float] = []
    /// Where the next one goes, once there are as many as are kept.
    private var next = 0

    /// Adds the duration of a poll that ended, in seconds.
    mutating func add(_ seconds: Double) {
        guard values.count == PollDurations.limit else { return values.append(Float(seconds)) }
        values[next] = Float(seconds)
        next = (next + 1) % PollDurations.limit
    }

    /// Seconds, the oldest first.
    var seconds: [Double] { (values[next...] + values[..<next]).map(Double.init) }
}
