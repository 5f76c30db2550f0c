// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The loop's side of a stream: decompresses and frames what arrives, and hands it to the buffer.
///
/// It is used by the loop's thread alone.
final class StreamReceiver {
    let buffer: RecordBuffer
    /// Whether the response was handed to its caller.
    var isOpen = false
    /// libcurl was told to pause.
    private(set) var isPaused = false
    private let keepAlive: Duration
    /// Only a line feed shows that the last line is whole: a connection that is cut ends in the same way.
    private let needsLastEnd: Bool
    private var framer: RecordFramer
    private let decoder: StreamDecoder?
    private var lastByteAt: Int64

    /// - Parameter endsWithConnection: whether nothing but the end of the connection ends the response.
    init(
        _ format: StreamSettings.Format, encoding: String?, endsWithConnection: Bool, keepAlive: Duration,
        memory: MemoryShare, now: Int64
    ) throws(FetchError) {
        framer = RecordFramer(format)
        decoder =
            switch encoding {
            case nil, "", "identity": nil
            case let encoding?: try StreamDecoder(encoding: encoding)
            }
        buffer = RecordBuffer(memory: memory)
        (self.keepAlive, lastByteAt) = (keepAlive, now)
        needsLastEnd = endsWithConnection && format == .lines && decoder == nil
    }

    /// Takes a piece of the body.
    /// - Returns: false when the connection must be paused first; then nothing was taken.
    func receive(_ bytes: UnsafeRawBufferPointer, now: Int64) throws(FetchError) -> Bool {
        lastByteAt = now
        guard !isBehind else {
            isPaused = true
            return false
        }
        guard let decoder else {
            try add(bytes)
            return true
        }
        decoder.add(bytes)
        try decode(decoder)
        // The reader is to report that it has caught up.
        if decoder.hasInput { _ = buffer.pause() }
        return true
    }

    /// Whether compressed bytes wait.
    var hasInput: Bool { decoder?.hasInput ?? false }

    /// Whether the reader, or the decompression, is behind.
    private var isBehind: Bool { buffer.pause() || hasInput }

    /// Whether compressed bytes wait that the reader has room for.
    var hasWork: Bool { hasInput && !buffer.isFull }

    /// Goes on after the reader has caught up.
    /// - Returns: whether libcurl may go on too.
    func goOn(now: Int64) throws(FetchError) -> Bool {
        // The server could not send.
        lastByteAt = now
        if let decoder { try decode(decoder) }
        guard isPaused, !isBehind else { return false }
        isPaused = false
        return true
    }

    private func decode(_ decoder: StreamDecoder) throws(FetchError) {
        try decoder.decode { bytes throws(FetchError) in
            try add(bytes)
            return !buffer.isFull
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer) throws(FetchError) {
        var records: [StreamRecord] = []
        do throws(FetchError) {
            try framer.add(bytes, into: &records)
        } catch {
            try buffer.add(records, partial: 0, retry: framer.retry)
            throw error
        }
        try buffer.add(records, partial: framer.size, retry: framer.retry)
    }

    /// The server ended the response.
    func ended() {
        var records: [StreamRecord] = []
        do throws(FetchError) {
            // Rarely more than one call decompresses is left.
            while let decoder, decoder.hasInput { try decode(decoder) }
            if let decoder, !decoder.isComplete { throw FetchError(.truncated, "the compressed stream is cut short") }
            if needsLastEnd, framer.size > 0 { throw FetchError(.truncated, "the stream ended within a line") }
            try framer.finish(into: &records)
            try buffer.add(records, partial: 0, retry: framer.retry)
            buffer.finish(.success(()))
        } catch {
            buffer.finish(.failure(error))
        }
    }

    /// - Returns: nil while bytes come in time.
    func timeoutError(now: Int64, origin: String) -> FetchError? {
        guard !isPaused, !hasWork, now - lastByteAt >= keepAlive.wholeMilliseconds else { return nil }
        return FetchError(
            .timeout,
            "\(origin) sent nothing over the stream for \(keepAlive); where it sends nothing to keep the connection alive, "
                + "set 'keep_alive' of 'stream' longer than its pauses")
    }
}
