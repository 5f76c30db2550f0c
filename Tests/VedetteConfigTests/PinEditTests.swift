// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import VedetteConfig

struct PinEditTests {
    let directory: TemporaryDirectory
    let pin = "sha256//YwIO+wc00OrJF6MI/qCYiUjU7/HtzUQ6Y0BEX5/ZYPQ="

    init() throws { directory = try TemporaryDirectory() }

    func written(_ text: String) throws -> String {
        let path = try directory.write(text, to: "a.yaml", mode: 0o640)
        _ = try PinEdit.write(pin, to: "lab", in: [path])
        return try String(contentsOfFile: path, encoding: .utf8).replacing(pin, with: "PIN")
    }

    @Test(
        "a pin is written where the server stands, and nothing else changes",
        arguments: [
            (
                "servers:\n  # ours\n  lab:   # old\n    url: https://h  # here\n    user: u\n",
                "servers:\n  # ours\n  lab:   # old\n    tls: {pin: \"PIN\"}\n    url: https://h  # here\n    user: u\n"
            ),
            (
                "servers: {other: {url: a}, lab: {url: 'https://h'}} # x",
                "servers: {other: {url: a}, lab: {tls: {pin: \"PIN\"}, url: 'https://h'}} # x"
            ),
            (
                "servers:\n  lab: {url: h,\n    user: ü}\n",
                "servers:\n  lab: {tls: {pin: \"PIN\"}, url: h,\n    user: ü}\n"
            ),
            (
                "servers:\n  lab:\n    tls: {minimum: 1.3}\n    url: h",
                "servers:\n  lab:\n    tls: {pin: \"PIN\", minimum: 1.3}\n    url: h"
            ),
            (
                "servers:\n  lab:\n    url: h\n    tls:\n      minimum: 1.3\n",
                "servers:\n  lab:\n    url: h\n    tls:\n      pin: \"PIN\"\n      minimum: 1.3\n"
            ),
            (
                "servers:\n  lab: {url: 'ä', tls: {pin: \"sha256//old\"}} # c",
                "servers:\n  lab: {url: 'ä', tls: {pin: \"PIN\"}} # c"
            ),
            (
                "servers:\n  lab:\n    tls:\n      pin: sha256//old # c\n    url: h",
                "servers:\n  lab:\n    tls:\n      pin: \"PIN\" # c\n    url: h"
            ),
            ("servers:\r\n  lab:\r\n    url: h\r\n", "servers:\r\n  lab:\r\n    tls: {pin: \"PIN\"}\r\n    url: h\r\n"),
            (
                "rules: []\nservers:\n  lab:\n      url: h\nsinks:\n",
                "rules: []\nservers:\n  lab:\n      tls: {pin: \"PIN\"}\n      url: h\nsinks:\n"
            ),
        ])
    func places(before: String, after: String) throws { #expect(try written(before) == after) }

    @Test(
        "what is not simple is left alone",
        arguments: [
            "base: &b {url: h}\nservers: {lab: *b, other: *b}", "servers: {lab: {url: h, tls: {insecure: true}}}",
            "servers: {lab: {url: h, tls: {ca: x}}}", "servers: {lab: {url: h, tls: }}", "servers: {lab: x}",
            "servers: {lab: {url: h, tls: {pin: \"sha256\\u002f/old\"}}}", "servers: {other: {url: h}}", "[",
            "x: &t {pin: sha256//old}\nservers: {lab: {url: h, tls: *t}, other: {url: h, tls: *t}}",
        ])
    func unsimple(text: String) throws {
        #expect(throws: PinEdit.Problem.self) { try written(text) }
        #expect(try String(contentsOfFile: directory.path + "/a.yaml", encoding: .utf8) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a.yaml"])
    }

    @Test("the file keeps its mode and its links, and the place and the former pin are returned")
    func file() throws {
        let path = try directory.write(
            "servers:\n  lab:\n    url: h\n    tls: {pin: old}\n", to: "real/a.yaml", mode: 0o600)
        let link = directory.path + "/link.yaml"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let written = try PinEdit.write(pin, to: "lab", in: [directory.path + "/none.yaml", link])
        #expect(written == PinEdit.PinRecord(place: "\(link):4", former: "old"))
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(pin))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    }
}
