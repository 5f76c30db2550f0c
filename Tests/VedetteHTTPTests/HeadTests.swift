// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("Response heads")
struct HeadTests {
    private func read(
        _ lines: [String], limits: FetchLimits = .init(), isHead: Bool = false
    ) -> (ResponseHead, FetchError?) {
        var head = ResponseHead()
        for line in lines + [""] {
            let error = Array((line + "\r\n").utf8).withUnsafeBytes { head.add($0, limits: limits, isHead: isHead) }
            if error != nil { return (head, error) }
        }
        return (head, nil)
    }

    @Test(
        "lengths that disagree, are no number, or stand beside chunks are refused",
        arguments: [
            ["Content-Length: 5", "content-length: 6"], ["Content-Length: 5, 6"], ["Content-Length: -5"],
            ["Content-Length: "], ["Content-Length: 5", "Transfer-Encoding: chunked"],
            ["Transfer-Encoding: chunked", "Content-Length: 5"],
        ])
    func lengths(lines: [String]) {
        #expect(read(["HTTP/1.1 200 OK"] + lines).1?.failure == .protocol)
    }

    @Test("a body in HTTP/1 without length and chunks ends with the connection")
    func end() {
        for (lines, isEnd) in [
            (["HTTP/1.1 200 OK"], true), (["HTTP/1.0 200 OK", "Content-Type: text/html"], true),
            (["HTTP/2 200"], false),
            (["HTTP/1.1 200 OK", "Content-Length: 5"], false),
            (["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"], false),
        ] {
            #expect(read(lines).0.endsWithConnection == isEnd, "\(lines)")
        }
    }

    @Test("the same length twice is one length")
    func sameLength() {
        #expect(read(["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 5"]).0.length == 5)
    }

    @Test(
        "a length beyond the limit is refused before a byte of the body, however large", .tags(.I8),
        arguments: [
            "101", "99999999999999999999999999",
        ])
    func tooLong(length: String) {
        let limits = FetchLimits.with { $0.received = 100 }
        #expect(read(["HTTP/2 200", "Content-Length: \(length)"], limits: limits).1?.failure == .tooLarge)
    }

    @Test("a 304 and the response to HEAD have a length but no body")
    func noBody() {
        let limits = FetchLimits.with { $0.received = 100 }
        #expect(read(["HTTP/1.1 304 Not Modified", "Content-Length: 5000"], limits: limits).1 == nil)
        #expect(read(["HTTP/1.1 200 OK", "Content-Length: 5000"], limits: limits, isHead: true).1 == nil)
    }

    @Test("informational responses and trailers are ignored, and count towards the limit")
    func blocks() {
        let lines = [
            "HTTP/1.1 103 Early Hints", "Set-Cookie: a=b", "", "HTTP/1.1 200 OK", "X: 1", "", "Set-Cookie: c=d",
        ]
        let (head, error) = read(lines)
        #expect(error == nil && head.status == 200 && !head.setsCookies)
        #expect(String(decoding: head.lines, as: UTF8.self) == "HTTP/1.1 200 OK\r\nX: 1\r\n\r\n")
        #expect(read(lines, limits: .with { $0.headers = 60 }).1?.failure == .tooLarge)
    }

    @Test("encodings are read without regard to case, and several are joined")
    func encodings() {
        #expect(read(["HTTP/1.1 200 OK", "CONTENT-ENCODING:  GZip "]).0.encoding == "gzip")
        #expect(read(["HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Encoding: br"]).0.encoding == "gzip,br")
    }
}
