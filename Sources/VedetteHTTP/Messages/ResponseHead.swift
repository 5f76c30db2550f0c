// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Collects the header lines of a response as they arrive, limits their bytes, and reads the length of the body. It refuses a
/// response that a proxy on the way might delimit differently (RFC 9112 §6.3).
struct ResponseHead {
    private(set) var status = 0
    /// The lines of the last block: informational responses (1xx) come before the final one.
    private(set) var lines: [UInt8] = []
    /// Content-Length, once the head has ended.
    private(set) var length: Int?
    private(set) var encoding: String?
    private(set) var setsCookies = false
    /// How long the server keeps the connection when it is idle, in milliseconds (`Keep-Alive: timeout=5`, RFC 2068 §19.7.1.1).
    private(set) var keepAlive: Int64?
    /// Whether the server closes the connection after this response (RFC 9112 §9.6).
    private(set) var closes = false
    private(set) var hasEnded = false
    private var receivedBytes = 0
    private var lengthText: [UInt8]?
    private var isChunked = false
    /// HTTP/2 has an end of its own for each body.
    private var isHTTP1 = false

    /// Whether only the end of the connection ends the body (RFC 9112 §6.3).
    var endsWithConnection: Bool { isHTTP1 && !isChunked && lengthText == nil }

    private static let contradiction: StaticString = "the answer contradicts itself about its length"

    /// Prepares for another response. The buffer is kept unless it is large.
    mutating func reset() {
        var lines = lines
        self = ResponseHead()
        lines.removeAll(keepingCapacity: lines.capacity <= 4096)
        self.lines = lines
    }

    /// Returns the lines without a copy.
    mutating func takeLines() -> [UInt8] {
        let taken = lines
        lines = []
        return taken
    }

    /// Adds a header line.
    ///
    /// - Returns: the error with which the transfer must end; nil to go on.
    mutating func add(
        _ line: UnsafeRawBufferPointer, limits: FetchLimits, isHead: Bool, isReply: Bool = false
    ) -> FetchError? {
        receivedBytes += line.count
        guard receivedBytes <= limits.headers else {
            return FetchError(.tooLarge, "the answer's headers are longer than \(limits.headers) bytes")
        }
        // Lines after the body are trailers, which are not used.
        guard !hasEnded else { return nil }
        if line.count > 8, line[0] == 0x48, line.starts(with: "HTTP/".utf8) { beginBlock(line) }
        lines.append(contentsOf: line)
        guard line.count > 2 else { return end(limits, isHead: isHead, isReply: isReply) }
        return read(line)
    }

    private mutating func beginBlock(_ line: UnsafeRawBufferPointer) {
        lines.removeAll(keepingCapacity: true)
        (lengthText, isChunked, encoding, setsCookies, closes) = (nil, false, nil, false, false)
        isHTTP1 = line.count > 5 && line[5] == 0x31
        let digits = line.drop { $0 != 32 }.dropFirst().prefix(3)
        status = digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
    }

    private mutating func read(_ line: UnsafeRawBufferPointer) -> FetchError? {
        switch line[0] | 0x20 {
        case 0x63:
            if let value = ResponseHead.value(of: "content-length:", in: line) {
                let isNew = lengthText == nil
                if !isNew, lengthText != value { return FetchError(.protocol, "\(ResponseHead.contradiction)") }
                lengthText = value
            } else if let value = ResponseHead.value(of: "content-encoding:", in: line) {
                let text = String(decoding: value, as: UTF8.self).lowercased()
                encoding = encoding.map { $0 + "," + text } ?? text
            } else if let value = ResponseHead.value(of: "connection:", in: line) {
                closes = closes || value.elementsEqual("close".utf8) { $0 | 0x20 == $1 }
            }
        case 0x6B:
            if let value = ResponseHead.value(of: "keep-alive:", in: line) {
                keepAlive = ResponseHead.timeout(in: value)
            }
        case 0x73: setsCookies = setsCookies || ResponseHead.value(of: "set-cookie:", in: line) != nil
        case 0x74: isChunked = isChunked || ResponseHead.value(of: "transfer-encoding:", in: line) != nil
        default: break
        }
        return nil
    }

    /// Returns the value without white space: the fields read here have none that matters.
    private static func value(of name: StaticString, in line: UnsafeRawBufferPointer) -> [UInt8]? {
        name.withUTF8Buffer { name in
            guard line.count > name.count else { return nil }
            for i in 0..<name.count where line[i] | 0x20 != name[i] | 0x20 { return nil }
            return line[name.count...].filter { $0 > 32 }
        }
    }

    /// Returns the `timeout` of a Keep-Alive header in milliseconds; nil without one.
    private static func timeout(in value: [UInt8]) -> Int64? {
        for parameter in String(decoding: value, as: UTF8.self).lowercased().split(separator: ",") {
            guard parameter.hasPrefix("timeout="), let seconds = UInt32(parameter.dropFirst(8)) else { continue }
            return Int64(seconds) * 1000
        }
        return nil
    }

    private mutating func end(_ limits: FetchLimits, isHead: Bool, isReply: Bool) -> FetchError? {
        guard status >= 200 else { return nil }
        hasEnded = true
        guard let text = lengthText else { return nil }
        guard !isChunked, !text.isEmpty, text.allSatisfy({ (48...57).contains($0) }) else {
            return FetchError(.protocol, "\(ResponseHead.contradiction)")
        }
        // A 304 and the response to HEAD give the length of a body that they do not have (RFC 9110 §8.6).
        if isHead || status == 304 || status == 204 { return nil }
        let digits = String(decoding: text, as: UTF8.self)
        guard let length = Int(digits), length <= limits.received else {
            // Such a body is read up to its limit.
            if isReply || !(200..<300).contains(status) { return nil }
            return FetchError(
                .tooLarge, "the answer announces \(digits.prefix(20)) bytes; the limit is \(limits.received)")
        }
        self.length = length
        return nil
    }
}
