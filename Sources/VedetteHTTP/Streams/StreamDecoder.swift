// SPDX-License-Identifier: Apache-2.0

import CZlib
import VedetteCore

/// Decompresses a stream piece by piece. What is not decompressed yet waits here, since few bytes may become very many.
///
/// It is used by the loop's thread alone.
final class StreamDecoder {
    /// Bytes that one call decompresses at most, so that the loop is not held up.
    static let maximumOutput = 256 << 10

    // zlib keeps the address of its stream.
    private let stream: UnsafeMutablePointer<z_stream>
    private var input: [UInt8] = []
    private var consumed = 0
    /// Whether the compressed data has come to its end.
    private(set) var isComplete = false

    /// - Throws: `.encoding` for one that was not asked for.
    init(encoding: String) throws(FetchError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard ["gzip", "x-gzip", "deflate"].contains(encoding), cz_inflate_init(stream, 47) == Z_OK else {
            stream.deallocate()
            throw FetchError(.encoding, "the stream has a content encoding that was not requested")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Whether compressed bytes wait.
    var hasInput: Bool { consumed < input.count && !isComplete }

    func add(_ bytes: UnsafeRawBufferPointer) {
        if consumed == input.count { (input, consumed) = ([], 0) }
        input.append(contentsOf: bytes)
    }

    /// Passes decompressed bytes to `body`, until there is no input, `maximumOutput` is reached, or `body` returns false.
    func decode(_ body: (UnsafeRawBufferPointer) throws(FetchError) -> Bool) throws(FetchError) {
        var output = [UInt8](repeating: 0, count: 16 << 10)
        var total = 0
        while hasInput, total < StreamDecoder.maximumOutput {
            let (code, count) = inflate(into: &output)
            total += count
            isComplete = code == Z_STREAM_END
            guard code == Z_OK || code == Z_STREAM_END || (code == Z_BUF_ERROR && count == 0) else {
                throw FetchError(.encoding, "the compressed stream is damaged")
            }
            let goesOn = try StreamDecoder.pass(output, count, body)
            guard goesOn, code != Z_BUF_ERROR else { return }
        }
    }

    private func inflate(into output: inout [UInt8]) -> (code: Int32, count: Int) {
        input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.pointee.next_in = input.baseAddress.map { $0 + consumed }
                stream.pointee.avail_in = UInt32(input.count - consumed)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                let code = CZlib.inflate(stream, Z_SYNC_FLUSH)
                consumed = input.count - Int(stream.pointee.avail_in)
                return (code, output.count - Int(stream.pointee.avail_out))
            }
        }
    }

    private static func pass(
        _ output: [UInt8], _ count: Int, _ body: (UnsafeRawBufferPointer) throws(FetchError) -> Bool
    ) throws(FetchError) -> Bool {
        guard count > 0 else { return true }
        let result = output.withUnsafeBytes { bytes in
            Result { () throws(FetchError) in try body(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        }
        return try result.get()
    }
}
