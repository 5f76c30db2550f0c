// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The header lines of one response as they arrive, and what is decided while they do: the limit of their bytes, and how
/// long the body may be. What a proxy on the way might frame otherwise than we do is refused (RFC 9112 §6.3).
struct ResponseHead {
    private(set) var status = 0
    /// The lines of the last block: informational answers (1xx) come before the real one.
    private(set) var lines: [UInt8] = []
    /// Content-Length, once the head has ended.
    private(set) var length: Int?
    private(set) var encoding: String?
    private(set) var setsCookies = false
    private(set) var hasEnded = false
    private var seen = 0
    private var lengthText: [UInt8]?
    private var isChunked = false

    private static let ending: StaticString = "the answer gives its length in ways that disagree"

    /// Ready for another response; the buffer stays unless it grew large.
    mutating func reset() {
        var lines = lines
        self = ResponseHead()
        lines.removeAll(keepingCapacity: lines.capacity <= 4096)
        self.lines = lines
    }

    /// The lines leave with the response.
    mutating func takeLines() -> [UInt8] {
        let taken = lines
        lines = []
        return taken
    }

    /// - Returns: why the transfer must end here.
    mutating func add(
        _ line: UnsafeRawBufferPointer, limits: FetchLimits, isHead: Bool, isReply: Bool = false
    ) -> FetchError? {
        seen += line.count
        guard seen <= limits.headers else {
            return FetchError(.tooLarge, "the answer's headers are longer than \(limits.headers) bytes")
        }
        // Behind a body stand trailers, which nobody asked for.
        guard !hasEnded else { return nil }
        if line.count > 8, line[0] == 0x48, line.starts(with: "HTTP/".utf8) { beginBlock(line) }
        lines.append(contentsOf: line)
        guard line.count > 2 else { return end(limits, isHead: isHead, isReply: isReply) }
        return note(line)
    }

    private mutating func beginBlock(_ line: UnsafeRawBufferPointer) {
        lines.removeAll(keepingCapacity: true)
        (lengthText, isChunked, encoding, setsCookies) = (nil, false, nil, false)
        let digits = line.drop { $0 != 32 }.dropFirst().prefix(3)
        status = digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
    }

    private mutating func note(_ line: UnsafeRawBufferPointer) -> FetchError? {
        switch line[0] | 0x20 {
        case 0x63:
            if let value = ResponseHead.value(of: "content-length:", in: line) {
                let isNew = lengthText == nil
                if !isNew, lengthText != value { return FetchError(.protocol, "\(ResponseHead.ending)") }
                lengthText = value
            } else if let value = ResponseHead.value(of: "content-encoding:", in: line) {
                let text = String(decoding: value, as: UTF8.self).lowercased()
                encoding = encoding.map { $0 + "," + text } ?? text
            }
        case 0x73: setsCookies = setsCookies || ResponseHead.value(of: "set-cookie:", in: line) != nil
        case 0x74: isChunked = isChunked || ResponseHead.value(of: "transfer-encoding:", in: line) != nil
        default: break
        }
        return nil
    }

    /// Without white space, for fields whose values have none that matters.
    private static func value(of name: StaticString, in line: UnsafeRawBufferPointer) -> [UInt8]? {
        name.withUTF8Buffer { name in
            guard line.count > name.count else { return nil }
            for i in 0..<name.count where line[i] | 0x20 != name[i] | 0x20 { return nil }
            return line[name.count...].filter { $0 > 32 }
        }
    }

    private mutating func end(_ limits: FetchLimits, isHead: Bool, isReply: Bool) -> FetchError? {
        guard status >= 200 else { return nil }
        hasEnded = true
        guard let text = lengthText else { return nil }
        guard !isChunked, !text.isEmpty, text.allSatisfy({ (48...57).contains($0) }) else {
            return FetchError(.protocol, "\(ResponseHead.ending)")
        }
        // The length of a 304 or of an answer to HEAD is that of a body which does not come (RFC 9110 §8.6).
        if isHead || status == 304 || status == 204 { return nil }
        let said = String(decoding: text, as: UTF8.self)
        guard let length = Int(said), length <= limits.received else {
            // What is read to its limit and no further.
            if isReply || !(200..<300).contains(status) { return nil }
            return FetchError(
                .tooLarge, "the answer says that it has \(said.prefix(20)) bytes; the limit is \(limits.received)")
        }
        self.length = length
        return nil
    }
}
