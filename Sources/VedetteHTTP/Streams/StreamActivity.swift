// SPDX-License-Identifier: Apache-2.0

/// What the streams among the transfers wait for. It is used by the loop's thread alone.
final class StreamActivity {
    /// Transfers whose response turned out to be a stream since the last turn of the loop.
    var opened: [RequestQueue.ID] = []
    /// Transfers with compressed bytes that wait.
    var undecoded = Set<RequestQueue.ID>()
}
