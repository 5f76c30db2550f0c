// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteEngine

@testable import VedetteSources

@Suite("The end tag of a page")
struct HTMLEndTests {
    private static let closed = Array("<html><body><ul><li>Lamp<li>Chair</ul></body></html>".utf8)

    private func read(_ end: String?, needsEndTag: Bool) throws -> Page {
        let options: [String: OptionValue] = end.map { ["end": .text($0)] } ?? [:]
        var page = PageBody(bytes: try Fixture.bytes("pages/no-end-tag.html"), url: "https://www.example.org/")
        page.needsEndTag = needsEndTag
        return try Fixture.kind("html", options).read(&page)
    }

    @Test("a page without it is read, unless the last one had it, the transfer has no end of its own, or 'end' says so")
    func needed() throws {
        #expect(try read(nil, needsEndTag: false).items[0]["text"] == "Lamp 10 euro Chair 20 euro")
        #expect(try !read(nil, needsEndTag: false).hasEndTag)
        #expect(try read("optional", needsEndTag: true).items.count == 1)
        for (end, needsEndTag) in [(nil, true), ("required", false)] as [(String?, Bool)] {
            let error = #expect(throws: ReadError.self) { try read(end, needsEndTag: needsEndTag) }
            #expect(error?.failure == .truncated && error?.detail.contains("'end: optional'") == true)
        }
    }

    @Test("after a page with the end tag, one without it is a failed poll; pages that never had it go on")
    func polls() async throws {
        func page(_ bytes: [UInt8]) -> [PageBody] { [PageBody(bytes: bytes, url: "https://www.example.org/")] }
        let open = try Fixture.bytes("pages/no-end-tag.html")
        let closing = Fixture.replay(try Fixture.source("html"))
        #expect(await closing.poll(page(Self.closed), at: .poll(0)).failure == nil)
        #expect(await closing.poll(page(open), at: .poll(1)).failure?.failure == "truncated")
        let other = Fixture.replay(try Fixture.source("html"))
        #expect(await other.poll(page(open), at: .poll(0)).failure == nil)
        let changed = await other.poll(page(Array("<html><body>Lamp".utf8)), at: .poll(1))
        #expect(changed.failure == nil && changed.events.count == 1)
    }
}
