// SPDX-License-Identifier: Apache-2.0

import CZlib
import VedetteCore

/// Decodes gzip, zlib and raw deflate within limits. libcurl's own decoder reports success on a truncated stream, and does
/// not limit the decoded bytes.
enum ContentDecoder {
    /// A body may be decoded to `freeBytes` at any ratio, beyond that to `maximumRatio` times its size.
    static let maximumRatio = 1000
    static let freeBytes = 1 << 20

    /// - Parameters:
    ///   - limit: bytes of the decoded body.
    ///   - memory: the share of the body; in the end it is as large as the decoded body.
    /// - Throws: `.truncated`, `.encoding`, `.tooLarge` or `.memory`.
    static func decode(
        _ body: [UInt8], encoding: String, limit: Int, memory: MemoryShare? = nil
    ) throws(FetchError) -> [UInt8] {
        switch encoding {
        case "identity", "": return body
        case "gzip", "x-gzip": return try inflate(body, windowBits: 47, limit: limit, memory)
        case "deflate":
            // Some servers send raw deflate by that name (RFC 9110 §8.4.1.2).
            let isZlib = body.count > 1 && body[0] & 0x0F == 8 && (Int(body[0]) << 8 | Int(body[1])) % 31 == 0
            return try inflate(body, windowBits: isZlib ? 47 : -15, limit: limit, memory)
        default:
            throw FetchError(
                .encoding,
                "the answer has the content encoding '\(printable(encoding))', which was not requested")
        }
    }

    /// Removes characters that no encoding has in its name: the text comes from the server.
    private static func printable(_ encoding: String) -> String {
        String(encoding.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-,".contains($0)) }.prefix(30))
    }

    private static func inflate(
        _ body: [UInt8], windowBits: Int32, limit: Int, _ memory: MemoryShare?
    ) throws(FetchError) -> [UInt8] {
        let bound = min(limit, max(freeBytes, body.count.multipliedReportingOverflow(by: maximumRatio).partialValue))
        var stream = z_stream()
        guard cz_inflate_init(&stream, windowBits) == Z_OK else { throw FetchError(.encoding, "failed to start zlib") }
        defer { inflateEnd(&stream) }
        var out: [UInt8] = []
        let end = body.withUnsafeBufferPointer { input in
            run(&stream, input, into: &out, bound: bound) { memory?.resize(to: body.count + $0) ?? true }
        }
        switch end {
        case .complete:
            guard memory?.resize(to: out.capacity) ?? true else { throw noMemory }
            return out
        case .noMemory: throw noMemory
        case .truncated: throw FetchError(.truncated, "the compressed answer is cut short")
        case .damaged: throw FetchError(.encoding, "the compressed answer is damaged")
        case .tooLarge: throw FetchError(.tooLarge, "the answer inflates to more than \(bound) bytes")
        }
    }

    private static let noMemory = FetchError(.memory, "there is no memory left to decompress the answer")

    private enum End { case complete, truncated, damaged, tooLarge, noMemory }

    private static func run(
        _ stream: inout z_stream, _ input: UnsafeBufferPointer<UInt8>, into out: inout [UInt8], bound: Int,
        reserve: (Int) -> Bool
    ) -> End {
        stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.avail_in = UInt32(input.count)
        var room = min(bound, input.count * 4)
        guard reserve(room) else { return .noMemory }
        out.reserveCapacity(room + 64)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 << 15) { chunk in
            while true {
                stream.next_out = chunk.baseAddress
                stream.avail_out = UInt32(chunk.count)
                let code = CZlib.inflate(&stream, Z_NO_FLUSH)
                let count = chunk.count - Int(stream.avail_out)
                if out.count + count > bound { return .tooLarge }
                if out.count + count > room {
                    room = min(bound, max(room * 2, out.count + count))
                    guard reserve(room) else { return .noMemory }
                    out.reserveCapacity(room + 64)
                }
                out.append(contentsOf: chunk[..<count])
                switch code {
                case Z_STREAM_END:
                    // Another member may follow (RFC 1952 §2.2); anything else after the end is padding.
                    guard stream.avail_in > 1, stream.next_in[0] == 0x1F, stream.next_in[1] == 0x8B,
                        inflateReset(&stream) == Z_OK
                    else { return .complete }
                case Z_OK where stream.avail_in > 0 || stream.avail_out == 0: continue
                case Z_OK, Z_BUF_ERROR: return .truncated
                default: return .damaged
                }
            }
        }
    }
}
