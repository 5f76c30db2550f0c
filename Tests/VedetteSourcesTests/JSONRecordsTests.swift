// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("Records of the json kind")
struct JSONRecordsTests {
    private static func read(
        _ kind: any SourceKind, _ json: String, event: String = "message"
    ) throws(ReadError) -> Page {
        var body = PageBody(bytes: Array(json.utf8), url: "https://h.example/stream")
        body.event = event
        return try kind.read(&body)
    }

    private static let kubernetes: StreamSettings = {
        var settings = StreamSettings()
        (settings.format, settings.initial) = (.lines, .seconds(2))
        (settings.resume, settings.parameter) = ("object.metadata.resourceVersion", "resourceVersion")
        settings.only = [RecordCondition("type", ["ADDED", "MODIFIED"])]
        settings.delete = [RecordCondition("type", ["DELETED"])]
        settings.bookmark = [RecordCondition("type", ["BOOKMARK"])]
        settings.expired = [RecordCondition("type", ["ERROR"]), RecordCondition("object.code", ["410"])]
        return settings
    }()

    @Test("the watch of Kubernetes: items, deletions, bookmarks, and an id that is too old")
    func watch() throws {
        let kind = try Fixture.kind(
            "json",
            [
                "key": .list([.text("object.metadata.uid")]), "title": .list([.text("object.metadata.name")]),
                "state": .list([.text("object.status.phase")]),
            ], stream: Self.kubernetes)
        #expect(kind.mode == .list)
        func record(_ type: String, _ object: String) throws -> Page {
            try Self.read(kind, #"{"type":"\#(type)","object":\#(object)}"#)
        }
        let pod = #"{"metadata":{"uid":"u1","name":"web","resourceVersion":"12"},"status":{"phase":"Pending"}}"#
        let added = try record("ADDED", pod)
        #expect(added.items.map(\.key) == ["u1"] && added.items[0].title == "web" && added.items[0].state == "Pending")
        #expect(added.record == RecordNote(.items, resume: "12"))
        #expect(try record("DELETED", pod).record == RecordNote(.deletion, resume: "12"))
        let bookmark = try record("BOOKMARK", #"{"metadata":{"resourceVersion":"20"}}"#)
        #expect(bookmark.items.isEmpty && bookmark.record == RecordNote(.bookmark, resume: "20"))
        let expired = try record("ERROR", #"{"kind":"Status","code":410}"#)
        #expect(expired.items.isEmpty && expired.record == RecordNote(.expired))
        #expect(try record("ERROR", #"{"kind":"Status","code":500}"#).record == RecordNote(.nothing))
        #expect(throws: ReadError.self) { try record("ADDED", #"{"metadata":{}}"#) }
        #expect(throws: ReadError.self) { try Self.read(kind, #"{"type":"ADDED""#) }
    }

    @Test("a deletion whose data is nothing but the key, as Mastodon sends it")
    func bareKey() throws {
        var settings = StreamSettings()
        settings.only = [RecordCondition("$event", ["update"])]
        settings.delete = [RecordCondition("$event", ["delete"])]
        let kind = try Fixture.kind("json", stream: settings)
        for data in ["103254962155278888", "\"103254962155278888\""] {
            let page = try Self.read(kind, data, event: "delete")
            #expect(page.items.map(\.key) == ["103254962155278888"] && page.record?.meaning == .deletion)
        }
        let update = try Self.read(kind, #"{"id":"1","content":"x"}"#, event: "update")
        #expect(update.items.map(\.key) == ["1"] && update.record == RecordNote(.items))
        #expect(throws: ReadError.self) { try Self.read(kind, "103", event: "update") }
    }

    @Test("a stream that lists nothing and deletes nothing is a window, unless mode says otherwise")
    func mode() throws {
        #expect(try Fixture.kind("json", stream: StreamSettings()).mode == .window)
        #expect(try Fixture.kind("json", ["mode": .text("list")], stream: StreamSettings()).mode == .list)
        #expect(try Fixture.kind("json").mode == .list)
    }

    @Test("a path that is none is refused at its place")
    func path() {
        var settings = StreamSettings()
        settings.only = [RecordCondition("a..b", ["x"])]
        #expect(throws: OptionProblem.self) { try Fixture.kind("json", stream: settings) }
    }
}
