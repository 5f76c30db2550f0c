// SPDX-License-Identifier: Apache-2.0

/// What the absence of an item means.
public enum ReadingMode: String, Sendable, Hashable {
    /// The items are complete; an absent one is gone.
    case list
    /// The items are the newest part; absence means nothing.
    case window

    /// Returns whether an item that left is shown with the others. Of a window, what came on the last day is: after a burst that
    /// is larger than a page, most of what was announced left with the next poll.
    /// - Parameters:
    ///   - since: when it came.
    ///   - readAt: when the source was last read.
    public func showsLeft(since: Timestamp, readAt: Timestamp) -> Bool {
        self == .window && since > readAt.advanced(by: .zero - .seconds(86_400))
    }
}
