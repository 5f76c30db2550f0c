// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

@Suite("stream of a source")
struct StreamOptionTests {
    private static func stream(_ text: String) -> StreamSettings? {
        let loaded = load("sources: {s: {kind: json, url: 'https://h/', stream: \(text)}}")
        #expect(loaded.problems.isEmpty)
        return loaded.configuration?.sources.first?.stream
    }

    @Test("true takes the defaults, false is a source that is polled, and a map sets each of them")
    func values() {
        #expect(Self.stream("true") == StreamSettings())
        #expect(Self.stream("true")?.keepAlive == .seconds(90))
        #expect(Self.stream("false") == nil)
        let all = Self.stream(
            "{format: lines, keep_alive: 10m, initial: 2s, resume: object.v, parameter: v, only: {type: [A, M]}, "
                + "delete: {type: D}, bookmark: {type: B}, expired: {type: E, object.code: 410}}")
        #expect(all?.format == .lines && all?.keepAlive == .seconds(600) && all?.initial == .seconds(2))
        #expect(all?.resume == "object.v" && all?.parameter == "v")
        #expect(all?.only == [RecordCondition("type", ["A", "M"])])
        #expect(all?.delete == [RecordCondition("type", ["D"])])
        #expect(all?.bookmark == [RecordCondition("type", ["B"])])
        #expect(all?.expired == [RecordCondition("type", ["E"]), RecordCondition("object.code", ["410"])])
    }

    @Test("what cannot be a stream is refused with its place and the remedy")
    func refused() {
        func said(_ source: String) -> [String] { problems("sources: {s: {\(source)}}") }
        #expect(
            said("kind: page, url: 'https://h/', stream: true") == [
                "1:46: the kind 'page' reads no stream; these do: json, news"
            ])
        #expect(
            said("kind: json, command: [date], stream: true") == [
                "1:44: 'stream' needs a server that pushes; a command is run again and again, so remove one of the two"
            ])
        #expect(
            said("kind: json, url: 'file:///x', stream: true") == [
                "1:45: 'stream' needs a server that pushes; a file is read again and again"
            ])
        #expect(
            said("kind: json, url: 'https://h/', stream: maybe") == [
                "1:54: 'stream' is 'true' or 'false', not 'maybe'"
            ])
        #expect(
            said("kind: json, url: 'https://h/', stream: {resume: id}") == [
                "1:55: 'resume' needs 'parameter', the query parameter that takes the id back"
            ])
        #expect(
            said("kind: json, url: 'https://h/', stream: {format: lines, parameter: since}") == [
                "1:70: 'parameter' needs 'resume', the path of the id in a line"
            ])
        #expect(
            said("kind: news, url: 'https://h/', stream: {only: {type: x}}") == [
                "1:62: the kind 'news' finds no path in a record; write '$event', the event's name"
            ])
        #expect(
            said("kind: json, url: 'https://h/', stream: {keepalive: 5s, format: line}") == [
                "1:55: unknown key 'keepalive' in 'stream'; did you mean 'keep_alive'?",
                "1:78: 'format' is one of 'events', 'lines', not 'line'; did you mean 'lines'?",
            ])
    }
}
