// SPDX-License-Identifier: Apache-2.0

/// The records of a stream that was written to a file, as `curl -N` does.
public struct RecordedStream: Sendable {
    public let format: StreamSettings.Format
    public let records: [StreamRecord]

    /// - Parameters:
    ///   - bytes: server-sent events or lines.
    ///   - format: how they are delimited; nil tells it from the first line. Nothing else then is a stream.
    /// - Throws: `.tooLarge` for a record that exceeds the limit.
    public init?(_ bytes: [UInt8], format: StreamSettings.Format? = nil) throws(FetchError) {
        guard let format = format ?? RecordedStream.format(of: bytes) else { return nil }
        var framer = RecordFramer(format)
        var records: [StreamRecord] = []
        var failure: FetchError?
        bytes.withUnsafeBytes { bytes in
            do throws(FetchError) {
                try framer.add(bytes, into: &records)
                try framer.finish(into: &records)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        (self.format, self.records) = (format, records)
    }

    /// A field of a server-sent event, or a whole JSON object, is the first line of a stream; a document is neither.
    private static func format(of bytes: [UInt8]) -> StreamSettings.Format? {
        let bare = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard let line = bare.split(maxSplits: 1, whereSeparator: { $0 == 10 || $0 == 13 }).first else { return nil }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        if name.count < line.count,
            ["", "event", "data", "id", "retry"].contains(String(decoding: name, as: UTF8.self))
        {
            return .events
        }
        return (try? JSON(parsing: line))?.members == nil ? nil : .lines
    }
}
