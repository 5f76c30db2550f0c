// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteSources

@Suite("The text kind")
struct TextResourceTests {
    private func read(
        _ options: [String: OptionValue], _ text: [UInt8], charset: String? = nil
    ) throws -> Page {
        let headers = ResponseHeaders(charset.map { [("Content-Type", "text/plain; charset=\($0)")] } ?? [])
        var page = PageBody(bytes: text, headers: headers, url: "https://host.example.org/list.txt")
        return try Fixture.kind("text", options).read(&page)
    }

    private let match: [String: OptionValue] = ["match": .pattern(KindSample.FirstWord())]

    @Test("each line that matches is an item; its groups are key, state, fields and templates")
    func lines() throws {
        let options: [String: OptionValue] = [
            "key": .list([.text("word")]), "title": .list([.text("rest")]), "state": .list([.text("rest")]),
            "link": .text("/units/{{word}}"),
            "fields": .map([("both", .text("{{word}}:{{rest}}")), ("all", .text("line"))]),
        ]
        let text = "a.service active\r\nnothing\n\nb@1.service -\n"
        let page = try read(options.merging(match) { $1 }, Array(text.utf8))
        #expect(page.items.map(\.key) == ["a.service", "b@1.service"])
        #expect(page.items.map(\.state) == ["active", nil] && page.items.map(\.title) == ["active", nil])
        #expect(
            page.items[0].url == "https://host.example.org/units/a.service"
                && page.items[0]["both"] == "a.service:active")
        #expect(page.items[1]["both"] == "b@1.service:" && page.items[1]["all"] == "b@1.service -")
    }

    @Test(
        "without groups named so, the line is key and title, and no item has a state; no line that matches is an empty list"
    )
    func defaults() throws {
        #expect(try Fixture.kind("text", match).stateNames?.isNone == true)
        let state: [String: OptionValue] = ["state": .list([.text("rest")])]
        #expect(try Fixture.kind("text", state.merging(match) { $1 }).stateNames?.isNone == nil)
        let page = try read(match, Array("a b\na b\n\u{1B}c d".utf8))
        #expect(page.items.map(\.key) == ["a b", "c d"] && page.items.map(\.title) == ["a b", "c d"])
        #expect(page.warnings.count == 1)
        #expect(try read(match, []).items.isEmpty && read(match, Array("none".utf8)).items.isEmpty)
    }

    @Test("a 'match' that fits no line is said with the number of lines; a text without lines is just empty")
    func fitsNone() throws {
        let hint = "'match' fits no line of the text, which has 2 lines; correct it"
        #expect(try read(match, Array("none\n\nneither\n".utf8)).emptyHint == hint)
        #expect(try read(match, Array("\n".utf8)).emptyHint == nil)
    }

    @Test(
        "groups of lines that key themselves are doubted in a list, unless 'key' says so; so is 'sort' beside 'match'")
    func doubts() throws {
        func doubts(_ options: [String: OptionValue], _ filter: TextFilter = TextFilter()) throws -> [String] {
            try Fixture.kind("text", options, filter: filter).doubts.map(\.path[0])
        }
        #expect(try doubts(match) == ["match"])
        #expect(try doubts(match.merging(["key": .list([.text("line")])]) { $1 }) == [])
        #expect(try doubts(match.merging(["mode": .text("window")]) { $1 }) == [])
        let sorted = TextFilter(sorts: true)
        #expect(try doubts(match.merging(["key": .list([.text("word")])]) { $1 }, sorted) == ["sort"])
        #expect(try doubts([:], sorted) == [])
    }

    @Test("without 'match' the whole text is one item, in whatever encoding it is")
    func whole() throws {
        let item = try read([:], [0x43, 0x61, 0x66, 0xE9, 0x0A, 0x78], charset: "iso-8859-1").items[0]
        #expect(item.key == "text" && item.title == "Café" && item["text"] == "Café\nx")
    }

    @Test("a name that is no group, and an option that needs 'match', are errors that say what there is")
    func unknown() {
        let options: [String: OptionValue] = ["state": .list([.text("stat")])]
        let error = #expect(throws: OptionProblem.self) { try read(options.merging(match) { $1 }, []) }
        #expect(error?.detail == "'stat' is no named group of 'match': it has word, rest, and 'line' is the whole line")
        #expect(throws: OptionProblem.self) { try read(["key": .list([.text("line")])], []) }
    }

    @Test(
        "a body of nothing but short lines takes no memory for each of them, where it may be JSON, as text and as a calendar"
    )
    func shortLines() async {
        await #expect(processExitsWith: .success) {
            var body = Array("a\n".utf8)
            while body.count < 4 << 20 { body += body }
            var page = PageBody(bytes: body, headers: ResponseHeaders(), url: "https://host.example.org/list.txt")
            let kind = try Fixture.kind("text", ["match": .pattern(KindSample.FirstWord())])
            let before = try PeakMemory.bytes()
            #expect(
                Recogniser.proposals(url: page.url, headers: page.headers, body: body).map(\.kind) == ["text", "http"])
            let afterJSON = try PeakMemory.bytes()
            #expect((try? kind.read(&page)) == nil)
            let afterText = try PeakMemory.bytes()
            page.bytes = Array("BEGIN:VCALENDAR".utf8) + [UInt8](repeating: 0x0A, count: 4 << 20)
            #expect((try? Fixture.kind("calendar").read(&page)) == nil)
            let afterCalendar = try PeakMemory.bytes()
            let grown = [afterJSON - before, afterText - afterJSON, afterCalendar - afterText].map { $0 >> 20 }
            #expect(grown[0] < 32 && grown[1] < 64 && grown[2] < 32, "\(grown) MiB")
        }
    }

    @Test("an HTML page is no text")
    func page() {
        let error = #expect(throws: ReadError.self) { try read(match, Array("<!DOCTYPE html><p>Log in".utf8)) }
        #expect(error?.failure == .wrongType)
    }
}
