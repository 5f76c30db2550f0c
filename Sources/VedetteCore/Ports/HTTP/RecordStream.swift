// SPDX-License-Identifier: Apache-2.0

/// The body of a response that does not end: records as they arrive, within bounds. A slow reader slows its server.
public protocol RecordStream: Sendable {
    /// Waits for bytes, and returns what they bring; nil once the server has ended the response in an orderly way.
    ///
    /// To be called by one task at a time. Cancelling it throws `.cancelled`.
    /// - Throws: why the connection failed. No byte within the keep-alive time is `.timeout`.
    func next() async throws(FetchError) -> RecordBatch?

    /// Makes the call of `next` that waits, else the following one, return an empty batch.
    func interrupt()

    /// How long the server wants its client to wait before it connects again; nil when it says nothing.
    var retry: Duration? { get }

    /// Ends the connection. It ends with the last reference too.
    func close()
}
