// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A configuration with a sink of each kind, their receivers, and one source whose only item changes.
final class Receivers {
    private let lab: Lab
    private let home: Home
    private let mail: MailServer
    private let desktop: Desktop
    private let memory: PoisonedMemory
    /// What the `stdout` sink wrote.
    private var output: [String] = []
    private var status: [[String: Any]] = []
    private var hasDesktop = false

    init(_ memory: PoisonedMemory) async throws {
        self.memory = memory
        lab = try await Lab("receiver")
        home = try Home(lab)
        let mails = home.directory.appending(path: "mails")
        try FileManager.default.createDirectory(at: mails, withIntermediateDirectories: true)
        mail = try await MailServer(mails)
        desktop = try await Desktop()
        let sinks = SinkKindCase.all.map { sink in
            let options = sink.options.replacing("URL", with: lab["receiver"])
                .replacing("FOLDER", with: home.directory.path).replacing("PORT", with: String(mail.port))
            return "  \(sink.name): {kind: \(sink.kind)\(options.isEmpty ? "" : ", ")\(options)}"
        }
        try home.write(
            """
            sources:
              list: {kind: json, url: "\(file("list").absoluteString)", state: state, link: link}
            sinks:
            \(sinks.joined(separator: "\n"))
            rules:
              - {name: any, when: {field: state}, notify: [\(SinkKindCase.all.map(\.name).joined(separator: ", "))]}
            """)
        // Else secrets could not be written there as they are.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: home.config.appending(path: "vedette.yaml").path)
    }

    private func file(_ name: String) -> URL { home.directory.appending(path: name) }

    /// Polls once, and attempts each pending message once.
    func poll(_ state: String) async throws -> Program.Result {
        let row = #"[{"id": 1, "state": "\#(state)", "link": "https://\#(state).example.org/"}]"#
        try Data(row.utf8).write(to: file("list"), options: .atomic)
        let environment = memory.environment.merging(hasDesktop ? desktop.environment : [:]) { $1 }
        let result = try await Program.run(["run", "--once"] + home.places, environment: environment)
        output += result.lines.filter { Program.object($0) != nil }
        status = try await Program.run(["status", "--json", "--all"] + home.places, environment: memory.environment)
            .json
        return result
    }

    /// Receivers of HTTP answer with this status, and the command exits with this one. Before the first `accept` the others cannot take
    /// a message either: there is no folder for the file and no desktop, and the mail server tells the first sender to come again.
    func refuse(status: Int, command: Int) async throws {
        try await lab.post("receiver", "/fail", ["times": 0])
        try await lab.post("receiver", "/fail", ["times": -1, "status": status])
        try Data(String(command).utf8).write(to: file("status"))
    }

    func accept() async throws {
        try await lab.post("receiver", "/fail", ["times": 0])
        try Data("0".utf8).write(to: file("status"))
        try FileManager.default.createDirectory(at: file("taken"), withIntermediateDirectories: true)
        hasDesktop = true
    }

    /// Receivers of HTTP take messages with answers that are longer than what is read of one.
    func answerAtLength() async throws {
        try await lab.post("receiver", "/fail", ["times": -1, "huge": 300_000])
    }

    /// Messages of a sink that are `pending` or `dead`, after the last poll.
    func count(_ state: String, _ sink: SinkKindCase) -> Int {
        status.first { $0.text("sink") == sink.name }?[state] as? Int ?? -1
    }

    /// The states of the item that the receiver of a sink was told; also by messages that it refused.
    func seen(by sink: SinkKindCase) async throws -> Set<String> {
        let texts: [String]
        switch sink.receiver {
        case .output: texts = output
        case .file: texts = [text(of: "taken/messages")]
        case .command: texts = [text(of: "commands")]
        case .mail: texts = (1...10).compactMap { mail.mail($0)?.text("raw") }
        case .desktop: texts = try await desktop.shown().map { "\($0.title) \($0.text)" }
        case .http(let path):
            let posts = try await lab.get("receiver", "/received") as? [[String: Any]] ?? []
            texts = posts.filter { post in
                let place = post.text("path") ?? ""
                return path == "/" ? place == path : place.hasPrefix(path)
            }.compactMap { $0.text("body")?.removingPercentEncoding }
        }
        return Set(
            ["second", "third", "fourth"].filter { state in
                // A notification shows no link.
                let mark = sink.kind == "desktop" ? "→ \(state)" : "//\(state).example.org"
                return texts.contains { $0.contains(mark) }
            })
    }

    private func text(of name: String) -> String { (try? String(contentsOf: file(name), encoding: .utf8)) ?? "" }

    func end() async {
        await desktop.end()
        await mail.end()
        await lab.end()
    }
}
