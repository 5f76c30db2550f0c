// SPDX-License-Identifier: Apache-2.0

/// A response that is written as long as its client reads it. The next part is asked for when the last one was taken, one
/// at a time; the task that asks is cancelled when the client is gone.
public protocol PageStream: Sendable {
    /// Returns the next part, at best of at most 64 KiB; nil at the end. It may wait as long as it likes.
    func next() async -> [UInt8]?
}
