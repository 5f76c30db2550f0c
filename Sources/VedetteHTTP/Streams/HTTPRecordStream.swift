// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The reader's side of a stream. The connection ends with it.
final class HTTPRecordStream: RecordStream {
    private let buffer: RecordBuffer
    private let client: HTTPClient
    private let id: RequestQueue.ID

    init(_ buffer: RecordBuffer, _ client: HTTPClient, _ id: RequestQueue.ID) {
        (self.buffer, self.client, self.id) = (buffer, client, id)
    }

    deinit { close() }

    var retry: Duration? { buffer.retry }

    func next() async throws(FetchError) -> RecordBatch? {
        try await buffer.next { client.onLoop { [id] in $0.transfers.goOn(id) } }
    }

    func interrupt() { buffer.interrupt() }

    func close() { client.onLoop { [id] in $0.cancel(id) } }
}
