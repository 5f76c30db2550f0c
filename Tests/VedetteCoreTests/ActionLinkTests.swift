// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Links that act")
struct ActionLinkTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func link(_ action: ActionLink.Action = .acknowledge, key: String? = "a/b") -> ActionLink {
        ActionLink(action, rule: "ready", Subject(source: "lab", key: key), match: "m1", from: now)
    }

    /// Signs with bytes that any change of the text changes.
    private func token(_ link: ActionLink) async throws -> ActionLink.Token {
        try #require(
            await ActionLink.Token(link) { text in
                (0..<4).flatMap { part in
                    var digest = StableHash()
                    digest.add("\(part) \(text)")
                    return (0..<8).map { UInt8(truncatingIfNeeded: digest.value >> ($0 * 8)) }
                }
            })
    }

    @Test(
        "a link is read as it was signed, whatever its item is called",
        arguments: ["a/b", "../../etc/passwd", "%2e%2e/x?y#z", "\u{0}\u{1F}\r\n", "\"<é>\" 🎉", "", nil])
    func roundTrip(key: String?) async throws {
        for action in ActionLink.Action.allCases {
            let signed = try await token(link(action, key: key))
            let read = try #require(ActionLink.Token(signed.text))
            #expect(read == signed && read.link == link(action, key: key))
            #expect(HTTPSyntax.isWord(read.signature), "it names a file")
        }
    }

    @Test("a changed byte gives no link, or another signed text, or another signature")
    func changed() async throws {
        let token = try await token(link())
        var bytes = Array(token.text.utf8)
        for at in bytes.indices {
            let right = bytes[at]
            for wrong in [right ^ 1, UInt8(ascii: "A"), UInt8(ascii: "_"), UInt8(ascii: "/")] where wrong != right {
                bytes[at] = wrong
                let read = ActionLink.Token(String(decoding: bytes, as: UTF8.self))
                #expect(read.map { $0.signed == token.signed && $0.signature == token.signature } != true, "\(at)")
            }
            bytes[at] = right
        }
    }

    @Test("each part of a link is signed, and its form is signed as another text")
    func parts() async throws {
        var others = [link(.snooze), link(key: "a/c"), link(key: nil), link(), link(), link()]
        others[3].rule = "other"
        others[4].match = "m2"
        others[5].expires = others[5].expires.advanced(by: .milliseconds(1))
        let token = try await token(link())
        for other in others { #expect(try await self.token(other).signed != token.signed, "\(other)") }
        #expect(token.form != token.signed)
    }

    @Test("a link is valid for 24 hours, and not while a clock that was set back is before them")
    func bounds() {
        let link = link()
        let end = now.advanced(by: ActionLink.lifetime)
        #expect(link.isValid(at: now) && link.isValid(at: end.advanced(by: .milliseconds(-1))))
        #expect(!link.isValid(at: end))
        #expect(!link.isValid(at: now.advanced(by: .milliseconds(-1))))
    }

    @Test("the key of a link is kept as long as the link is valid", arguments: [0, 1, 43_200_000, 86_399_999])
    func keys(afterMidnight milliseconds: Int64) {
        let made = Timestamp(milliseconds: 20_000 * 86_400_000 + milliseconds)
        let link = ActionLink(.snooze, rule: "r", Subject(source: "s", key: nil), match: "m", from: made)
        #expect(link.day == 20_000)
        #expect(ActionLink.isKept(day: link.day, at: link.expires.advanced(by: .milliseconds(-1))))
        #expect(!ActionLink.isKept(day: link.day, at: link.expires.advanced(by: .seconds(86_400))))
    }

    @Test("a link that receivers would cut is not made")
    func long() async {
        let long = link(key: String(repeating: "k", count: ActionLink.Token.longest))
        #expect(await ActionLink.Token(long) { _ in [UInt8](repeating: 7, count: 32) } == nil)
        #expect(await ActionLink.Token(link()) { _ in nil } == nil)
    }
}
