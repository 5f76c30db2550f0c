// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The pause that ends what a server sends at once over a connection: no record came for so long, or it has taken so long.
struct StreamPause {
    /// When the pause has come, unless records arrive before.
    private(set) var deadline: BootTime
    /// When reading ends in any case.
    let end: BootTime
    private let length: Duration

    /// - Parameters:
    ///   - length: the time without a record.
    ///   - time: the time after which reading ends in any case.
    init(of length: Duration, within time: Duration, at now: BootTime) {
        (self.length, end) = (length, now.advanced(by: time))
        deadline = min(end, now.advanced(by: length))
    }

    /// Notes that records came.
    mutating func begin(at now: BootTime) { deadline = min(end, now.advanced(by: length)) }
}
