// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore

@testable import VedetteConfig

/// A kind that reads nothing; it has the options that the tests need.
struct StandInKind: SourceKind {
    var mode = ReadingMode.list
    var mayBeComplete = false
    var identity: UInt64 { 0 }
    var fingerprints: [String: UInt64] { [:] }
    var fieldNames: [String]?
    var noteNames: Set<String> = []
    var measureNames: Set<String> = []
    var stateNames: StateNames?
    var doubts: [OptionProblem] = []
    func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }
    func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }

    static let cloudburst = SourceKindEntry(
        name: "cloudburst", summary: "Systems.",
        options: [OptionSpec("codes", .map(.text), "Names for codes.")],
        make: { options throws(OptionProblem) in
            for code in options.map("codes") where !code.name.hasPrefix("RM") {
                throw OptionProblem("codes", code.name, detail: "'\(code.name)' is no code; write RM and five digits")
            }
            return StandInKind(fieldNames: ["owner", "message", "name"])
        })
    static let json = SourceKindEntry(
        name: "json", summary: "Anything.",
        options: [
            OptionSpec("items", .text, "Path of the items."),
            OptionSpec("key", .oneOrMany(.text), "Paths of the key."),
            OptionSpec("fields", .map(.text), "Further fields."),
            OptionSpec("limit", .integer(1...100), "How many."),
            OptionSpec("strict", .flag, "Whether."),
            OptionSpec("mode", .choice(["list", "window"]), "What absence means."),
            OptionSpec("since", .duration, "How far back."),
        ],
        streams: .paths,
        make: { options throws(OptionProblem) in
            for (i, path) in options.texts("key").enumerated() where path.hasPrefix(".") {
                throw OptionProblem("key", String(i), detail: "the path '\(path)' has an empty part")
            }
            return StandInKind(fieldNames: nil)
        })
    static let page = SourceKindEntry(
        name: "page", summary: "A page that is up or down.", options: [],
        make: { _ throws(OptionProblem) in
            StandInKind(
                fieldNames: ["reason", "latency"], noteNames: ["reason"], measureNames: ["latency"],
                stateNames: StateNames(["down", "up"]))
        })
    static let news = SourceKindEntry(
        name: "news", summary: "Entries without a state.", options: [], streams: .documents,
        make: { _ throws(OptionProblem) in
            StandInKind(
                mode: .window, fieldNames: ["author", "content"], noteNames: ["author"], stateNames: StateNames())
        })
    static let codes = SourceKindEntry(
        name: "codes", summary: "States with names, and codes.", options: [],
        make: { _ throws(OptionProblem) in
            StandInKind(fieldNames: [], stateNames: StateNames(["Ready", "Starting"]) { $0.hasPrefix("RM") })
        })
    static let markup = SourceKindEntry(
        name: "markup", summary: "A page.",
        options: [OptionSpec("ignore", .list(.either(.text, .object(TextFilter.ignoreKeys))), "Nodes and texts.")],
        make: { options throws(OptionProblem) in
            if options.texts("ignore") != ["//nav"] { throw OptionProblem("ignore", detail: "the nodes are lost") }
            var kind = StandInKind(fieldNames: nil)
            if options.filter.sorts {
                kind.doubts = [OptionProblem("sort", detail: "'sort' orders nothing; remove it")]
            }
            return kind
        })
    static let feed = SourceKindEntry(
        name: "feed", summary: "A feed.", options: [], every: .seconds(1800),
        make: { _ throws(OptionProblem) in StandInKind(mode: .window, mayBeComplete: true, fieldNames: ["author"]) })
}

struct StandInSink: Sink {
    func deliver(_ message: Message) async -> Outcome { .delivered }

    static func entry(_ name: String, _ options: [OptionSpec]) -> SinkKindEntry {
        SinkKindEntry(
            name: name, summary: "A sink.", options: options,
            make: { _ throws(OptionProblem) in { _, _ in StandInSink() } })
    }

    static let all = [
        entry("desktop", []),
        entry("slack", [OptionSpec("url", .secret, "The secret address.", required: true)]),
        entry(
            "webhook",
            [
                OptionSpec("url", .text, "Where to.", required: true),
                OptionSpec("headers", .headers, "Further headers."),
                OptionSpec("title", .template, "The title."),
                OptionSpec("body", .body, "The body."),
            ]),
    ]
}

func loader(directory: String? = nil, _ environment: [String: String] = [:]) -> ConfigurationLoader {
    ConfigurationLoader(
        directory: directory,
        sourceKinds: [
            StandInKind.cloudburst, StandInKind.json, StandInKind.feed, StandInKind.page, StandInKind.news,
            StandInKind.codes, StandInKind.markup,
        ],
        sinkKinds: StandInSink.all,
        recurrence: { rule, from, _ in rule.hasPrefix("FREQ=MONTHLY") ? [from] : nil }, environment: environment)
}

/// Reads texts as files `a.yaml`, `b.yaml` … of nobody else.
func load(_ texts: String..., isPrivate: Bool = false, environment: [String: String] = [:]) -> Loaded {
    let files = zip("abcdef", texts).map { ConfigurationFile(path: "\($0).yaml", text: $1, isPrivate: isPrivate) }
    return loader(environment).load(files)
}

extension Loaded {
    /// The diagnostics without warnings about what no rule uses: most tests write only the part that they are about.
    var problems: [Diagnostic] { diagnostics.filter { !$0.message.contains(" is unused: ") } }
}

/// What is wrong with one file, each diagnostic without its `a.yaml:`.
func problems(_ text: String, isPrivate: Bool = false, environment: [String: String] = [:]) -> [String] {
    load(text, isPrivate: isPrivate, environment: environment).problems.map {
        $0.description.replacing("a.yaml:", with: "", maxReplacements: 1)
    }
}

/// A directory that goes with its owner.
final class TemporaryDirectory {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("vedette-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o644) throws -> String {
        try write(Array(text.utf8), to: name, mode: mode)
    }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String, mode: Int = 0o644) throws -> String {
        let url = URL(fileURLWithPath: path).appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
        return url.path
    }
}
