// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A configuration with a source of each kind over each way to get bytes, and their bodies.
struct PolledSources {
    /// `plain`, `validated` and `gzip` are paths of the server: HTTP with a length, with an ETag, and compressed.
    static let ways = ["plain", "validated", "gzip", "file", "command"]

    /// What every source gets at its next poll.
    enum Served { case first, changed, unreadable, missing, oversized }

    /// A source, with what it is expected to find.
    struct Source: Sendable {
        let name: String
        let kind: SourceKindCase
        let way: String

        /// Whether a poll may fail for what other polls hold, and may be a good one.
        func mayLackMemory(_ served: Served) -> Bool {
            kind.failure == nil && served == .oversized && !["file", "command"].contains(way)
        }

        /// The classes that the failure of a poll may have; none for a good one.
        func failures(_ served: Served) -> [String] {
            guard let unreadable = kind.failure else { return mayLackMemory(served) ? ["memory"] : [] }
            return switch served {
            case .first, .changed: []
            case .unreadable: [unreadable]
            case .missing: [way == "command" ? "command" : "not-found"]
            // Over HTTP it may meet the limit on all bodies first: polls that wait for an answer give their turn to others.
            case .oversized: ["file", "command"].contains(way) ? ["too-large"] : ["too-large", "memory"]
            }
        }
    }

    let sources: [Source]
    /// Names of the sources that read a stream.
    let streams: [String]
    let home: Home
    let server: BodyServer
    private let memory: PoisonedMemory
    private let bodies: URL

    /// - Parameter readsStreams: whether there is also a source for each kind that reads streams, of events and of lines.
    init(_ memory: PoisonedMemory, readsStreams: Bool = false) async throws {
        self.memory = memory
        home = try Home()
        bodies = home.directory.appending(path: "bodies")
        try FileManager.default.createDirectory(at: bodies, withIntermediateDirectories: true)
        server = try await BodyServer(bodies)
        sources = SourceKindCase.all.flatMap { kind in
            PolledSources.ways.map { Source(name: "\(kind.kind)-\($0)", kind: kind, way: $0) }
        }
        let streaming = readsStreams ? SourceKindCase.all.filter { $0.record != nil } : []
        streams = streaming.flatMap { ["\($0.kind)-events", "\($0.kind)-lines"] }
        try serve(.first)
        try home.write(configuration(streaming))
    }

    private func configuration(_ streaming: [SourceKindCase]) -> String {
        let polled = sources.map { source in
            let file = source.kind.file
            let address =
                switch source.way {
                case "file": #"url: "\#(bodies.appending(path: file).absoluteString)""#
                case "command": #"command: [cat, "\#(bodies.appending(path: file).path)"]"#
                default: "server: bodies, path: /\(source.way)/\(file)"
                }
            return line(source.name, source.kind, address)
        }
        let read = streaming.flatMap { kind in
            ["events", "lines"].map { format in
                let name = "\(kind.kind)-\(format)"
                let stream = "stream: {format: \(format)}, first: announce"
                return line(name, kind, "url: \(server.url)/stream/\(name), \(stream)")
            }
        }
        // One request at a time: several oversized bodies at once would meet the limit on all bodies.
        return """
            servers:
              bodies: {url: "\(server.url)", concurrency: 1}
            sources:
            \((polled + read).joined(separator: "\n"))
            sinks:
              out: {kind: stdout, format: json}
            rules:
              - name: everything
                when: {any: [{appears: true}, {disappears: true}, {changes: [state, title]}, {source_state: [failing, recovered]}]}
                notify: [out]
            """
    }

    private func line(_ name: String, _ kind: SourceKindCase, _ address: String) -> String {
        let options = kind.options.isEmpty ? "" : kind.options + ", "
        return "  \(name): {kind: \(kind.kind), \(address), \(options)every: 500ms, fails: 1}"
    }

    func serve(_ served: Served) throws {
        for kind in SourceKindCase.all {
            let file = bodies.appending(path: kind.file)
            switch served {
            case .first: try Data(kind.body(kind.first).utf8).write(to: file, options: .atomic)
            case .changed: try Data(kind.body(kind.changed).utf8).write(to: file, options: .atomic)
            case .unreadable:
                try Data(kind.unreadable(kind.body(kind.first)).utf8).write(to: file, options: .atomic)
            case .missing: try FileManager.default.removeItem(at: file)
            case .oversized:
                // More than each limit: as received, and decoded.
                try Data().write(to: file)
                try FileHandle(forWritingTo: file).truncate(atOffset: 40_000_000)
            }
        }
    }

    func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(arguments + home.places, environment: memory.environment)
    }

    func watcher() throws -> Child {
        try Child(Program.path, ["run", "--verbose"] + home.places, environment: memory.environment)
    }

    /// How many polls of each source found nothing changed, by the log.
    static func unchanged(in log: [String]) -> [String: Int] {
        let names = log.filter { $0.contains(", unchanged (") }.compactMap {
            $0.split(separator: " ").dropFirst().first
        }
        return names.reduce(into: [:]) { $0[String($1.dropLast()), default: 0] += 1 }
    }
}
