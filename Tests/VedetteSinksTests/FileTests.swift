// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteText

@testable import VedetteSinks

@Suite("file")
struct FileTests {
    let directory = FileManager.default.temporaryDirectory.appending(path: "vedette-file-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

    func sink(_ path: String, _ more: [String: OptionValue] = [:]) throws -> any Sink {
        let services = SinkServices(fetcher: ScriptedFetcher(status: 200), clock: StillClock(), userAgent: "v")
        let options = ["path": OptionValue.text(path)].merging(more) { $1 }
        return try FileKind.entry.make(Options(options))("log", services)
    }

    @Test("each message is one line, and the file is its owner's alone")
    func lines() async throws {
        let path = directory.appending(path: "events.ndjson").path
        let sink = try sink(path)
        for title in hostileTitles { #expect(await sink.deliver(.of(.changed(title: title))) == .delivered) }
        let lines = try Data(contentsOf: URL(filePath: path)).split(separator: 10)
        #expect(try lines.map { Event(json: try JSON(parsing: $0))?.item?.title } == hostileTitles)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.removeItem(at: directory)
    }

    @Test("the line break at the end of a block of YAML is not a part of the line, one within it is shown")
    func block() async throws {
        let path = directory.appending(path: "events.txt").path
        let template = try MustacheTemplate("{{item.title}}:\n{{change.to}}\n", names: .message)
        let sink = try sink(path, ["template": .template(template)])
        #expect(await sink.deliver(.of(.changed(title: "a"))) == .delivered)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a:\\nReady for use\n")
        try FileManager.default.removeItem(at: directory)
    }

    @Test("after a rotation a new file is made")
    func rotated() async throws {
        let path = directory.appending(path: "events.log").path
        let sink = try sink(path, ["format": .text("line")])
        #expect(await sink.deliver(.of()) == .delivered)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        #expect(await sink.deliver(.of()) == .delivered)
        let (old, new) = (
            try String(contentsOfFile: path + ".1", encoding: .utf8), try String(contentsOfFile: path, encoding: .utf8)
        )
        #expect(old == new)
        #expect(new.hasPrefix("2026-11-21T10:00:00.000Z  lab-systems  prod-1  Starting → Ready for use"))
        #expect(new.split(separator: "\n").count == 1)
        try FileManager.default.removeItem(at: directory)
    }

    @Test("a failed write is tried again, with the system's error")
    func failures() async throws {
        let pipe = directory.appending(path: "pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let cases = [
            (directory.path, "Is a directory"), (directory.path + "/none/x", "No such file"), (pipe, "No such device"),
            ("/dev/full", "No space left"),
        ]
        for (path, words) in cases {
            let outcome = try await sink(path).deliver(.of())
            #expect(outcome.isRetry && outcome.reason?.contains(words) == true, "\(outcome)")
        }
        try FileManager.default.removeItem(at: directory)
    }

    @Test("a path that is not absolute is refused", arguments: ["", "log", "/tmp/", "/a\nb"])
    func wrongPaths(_ path: String) {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(throws: OptionProblem.self) { try sink(path) }
    }
}
