// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Streams among the transfers.
extension HTTPClient {
    /// Hands over the responses whose records began to arrive.
    func openStreams() {
        guard !streams.opened.isEmpty else { return }
        let opened = streams.opened
        streams.opened = []
        for id in opened {
            guard let (transfer, recipient) = running[id], let stream = transfer.stream, !stream.isOpen else {
                continue
            }
            stream.isOpen = true
            var response = transfer.takeHead()
            response.records = HTTPRecordStream(stream.buffer, self, id)
            deliver(.success(response), of: id, to: recipient)
        }
    }

    /// Lets a stream go on whose reader has caught up.
    func goOn(_ id: RequestQueue.ID) {
        guard let (transfer, _) = running[id], transfer.stream != nil else { return }
        if let problem = transfer.goOn(now: KernelClock.monotonic.milliseconds) { end(id, .failure(problem)) }
    }

    /// Decompresses what waits in streams.
    /// - Returns: whether there is more to do at once.
    func decodeStreams() -> Bool {
        guard !streams.undecoded.isEmpty else { return false }
        var isBusy = false
        for id in streams.undecoded {
            if running[id]?.transfer.stream?.hasWork == true { goOn(id) }
            let stream = running[id]?.transfer.stream
            if stream?.hasInput != true { streams.undecoded.remove(id) }
            isBusy = isBusy || stream?.hasWork == true
        }
        return isBusy
    }
}

/// What the streams among the transfers wait for. It is used by the loop's thread alone.
final class StreamActivity {
    /// Transfers whose response turned out to be a stream since the last turn of the loop.
    var opened: [RequestQueue.ID] = []
    /// Transfers with compressed bytes that wait.
    var undecoded = Set<RequestQueue.ID>()
}
