// SPDX-License-Identifier: Apache-2.0

import VedetteCore

@testable import VedetteHTTP

/// Readers of what stands around a body: heads, cookies, encodings, dates, the replies of mail servers.
extension FuzzReader {
    private static let now = Timestamp(milliseconds: 1_795_000_000_000)

    private static let headWords = [
        "\r\n", "\n", "\r", ":", ": ", " ", ",", ";", "=", "\"", "\u{0}", "\u{7f}", "é", "HTTP/1.1 200 OK\r\n",
        "HTTP/2 103\r\n", "\r\n\r\n",
        "Content-Length: 9223372036854775808\r\n", "Content-Length: -1\r\n", "Content-Length:",
        "Transfer-Encoding: chunked\r\n",
        "Content-Encoding: gzip\r\n", "Set-Cookie: ", "Retry-After: ", "99999999999999999999",
        "Link: </a>; rel=next\r\n", "0",
    ]

    private static let dateWords = [
        "Sun,", "Nov", "06", "-", " ", "  ", ":", "GMT", "1994", "94", "00", "0", "99", "Sunday,", "\u{0}", "é",
        "24:00:00", "9999",
    ]

    private static let dates = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06-Nov-1994 08:49:37 GMT",
    ]

    static let wire = [
        FuzzReader(
            "heads", words: headWords,
            texts: [
                "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/html; charset=\"utf-8\"\r\n"
                    + "Content-Length: 10\r\nETag: W/\"x\"\r\nCache-Control: private, max-age=60\r\nAge: 5\r\n\r\n",
                "HTTP/1.1 103 Early Hints\r\nLink: </s>; rel=preload\r\n\r\nHTTP/1.1 503 Later\r\nRetry-After: 120\r\n"
                    + "Transfer-Encoding: chunked\r\nSet-Cookie: a=b; Max-Age=5\r\nLink: </p?2>; rel=\"next\"\r\n\r\n",
                "HTTP/2 304\r\ncontent-length: 77\r\ncontent-encoding: gzip\r\ncontent-encoding: br\r\n\r\n",
            ],
            check: { { head($0) } }),
        FuzzReader(
            "cookies",
            words: [
                ";", "; ", "=", ",", " ", "\"", "Path=/", "Secure", "HttpOnly", "Max-Age=", "Expires=", "Domain=x",
                "99999999999999999999",
                "-1", "\u{0}", "\u{1b}", "\t", "é", "__Host-", "\nSet-Cookie: ", "\r\n",
            ],
            texts: [
                "id=a3fWa; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Secure; HttpOnly",
                "b=\"q\"; Path=/docs; Max-Age=2592000; SameSite=Lax",
                "LtpaToken2=AAECAzU=; Path=/; Domain=.example.com", "a=; Max-Age=0", "=x; Path=",
                "s=1\nSet-Cookie: t=2; Path=/a",
            ],
            check: { { cookies($0) } }),
        FuzzReader(
            "packed", words: ["\u{0}", "\u{1f}", "\u{8}", "\u{78}", "\u{3}", "a", "\u{7f}"],
            samples: { packed },
            check: {
                { bytes in
                    for encoding in ["gzip", "deflate"] {
                        guard let body = try? ContentDecoder.decode(bytes, encoding: encoding, limit: 4 << 20) else {
                            continue
                        }
                        if body.count > 4 << 20 { return "\(body.count) bytes from \(bytes.count)" }
                        if try ContentDecoder.decode(bytes, encoding: encoding, limit: 4 << 20) != body {
                            return "two decodings differ"
                        }
                    }
                    return nil
                }
            }),
        FuzzReader(
            "http-dates", words: dateWords, texts: dates,
            check: {
                { bytes in
                    guard let time = Timestamp(httpDate: String(decoding: bytes, as: UTF8.self), now: now) else {
                        return nil
                    }
                    return Timestamp(rfc3339: time.rfc3339) == time
                        ? nil : "\(time.milliseconds) ms cannot be written as a date"
                }
            }),
        FuzzReader(
            "mail-replies",
            words: [
                "250", "250-", "250 ", "354 ", "421", "\r\n", "\n", "\r", "-", " ", "\u{0}", "é", "999", "199 ", "5",
                "2.1.0 Ok",
            ],
            texts: [
                "220 mail.example.org ESMTP\r\n250-mail.example.org\r\n250-SIZE 10240000\r\n250 SMTPUTF8\r\n",
                "354 End data with <CR><LF>.<CR><LF>\r\n",
                "550 5.1.1 <a@b>: no such user\r\n", "250\r\n", "421-4.7.0 Try\r\n421 4.7.0 later\r\n",
            ],
            check: { { replies($0) } }),
    ]

    private static func head(_ bytes: [UInt8]) -> String? {
        let limits = FetchLimits()
        func read() -> (head: ResponseHead, error: FetchError?) {
            var head = ResponseHead()
            var rest = bytes[...]
            while !rest.isEmpty {
                let end = rest.firstIndex(of: 10).map { $0 + 1 } ?? rest.endIndex
                let error = rest[..<end].withUnsafeBytes { head.add($0, limits: limits, isHead: false) }
                if let error { return (head, error) }
                rest = rest[end...]
            }
            return (head, nil)
        }
        var (head, error) = read()
        let again = read()
        if (head.length, head.encoding, error?.failure) != (
            again.head.length, again.head.encoding, again.error?.failure
        ) {
            return "two readings differ"
        }
        if let length = head.length, !(0...limits.received).contains(length) { return "a length of \(length)" }
        let headers = ResponseHeaders(lines: head.takeLines())
        if let wait = headers.retryAfter(at: now), wait <= .zero { return "Retry-After of \(wait)" }
        if let fresh = headers.freshFor, fresh < .zero { return "fresh for \(fresh)" }
        _ = (headers.nextLink, headers.charset, headers.mediaType)
        let values = ["Set-Cookie", "ETag", "Last-Modified", "Content-Type"].flatMap(headers.all)
        return values.contains { $0.utf8.contains(10) } ? "a value holds the end of a line" : nil
    }

    private static func cookies(_ bytes: [UInt8]) -> String? {
        guard let url = WebURL("https://example.com/docs/a"), let other = WebURL("https://example.com:8443/docs/a")
        else { return nil }
        var jar = CookieJar()
        jar.store(ResponseHeaders(lines: Array("Set-Cookie: ".utf8) + bytes), from: url, now: now)
        if jar.cookies.count > 50 { return "\(jar.cookies.count) cookies" }
        if CookieJar(json: jar.json.bytes).cookies != jar.cookies { return "a stored jar is another one" }
        if jar.header(for: other, now: now) != nil { return "a cookie goes to another origin" }
        let header = jar.header(for: url, now: now) ?? ""
        return header.utf8.contains { $0 < 32 || $0 == 127 } ? "the header holds a control character" : nil
    }

    private static func replies(_ bytes: [UInt8]) -> String? {
        func read(_ size: Int) -> (replies: [SMTPReply], failure: Failure?) {
            var reader = MailReplies()
            var found: [SMTPReply] = []
            do throws(FetchError) {
                for start in stride(from: 0, to: bytes.count, by: size) {
                    try reader.append(bytes[start..<min(bytes.count, start + size)])
                    found += reader.take()
                }
                return (found, nil)
            } catch {
                return (found + reader.take(), error.failure)
            }
        }
        let (whole, single) = (read(max(1, bytes.count)), read(1))
        if whole.replies != single.replies || whole.failure != single.failure {
            return "pieces of one byte are read otherwise"
        }
        if let reply = whole.replies.first(where: { !(200...599).contains($0.code) || $0.text.utf8.count > 1300 }) {
            return "a reply of \(reply.code) with \(reply.text.utf8.count) bytes"
        }
        return nil
    }

    /// The same text as gzip with a name, zlib and raw deflate.
    private static let packed: [[UInt8]] = [
        "H4sICAAAAAAC/2EAS0xKTklNS8/IzMrOyc3LLygsKi4pLSuvqKxKHAV0AQC1qPBgggEAAA==",
        "eJxLTEpOSU1Lz8jMys7JzcsvKCwqLiktK6+orEocBXQBAGlqk4g=",
        "S0xKTklNS8/IzMrOyc3LLygsKi4pLSuvqKxKHAV0AQA=",
    ].map { decodedBase64($0) }

    private static func decodedBase64(_ text: String) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var (bits, count, bytes) = (0, 0, [UInt8]())
        for byte in text.utf8 {
            guard let value = alphabet.firstIndex(of: byte) else { continue }
            (bits, count) = (bits << 6 | value, count + 6)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count & 255))
            }
        }
        return bytes
    }
}
