// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Synchronization
import Testing
import VedetteConfig
import VedetteCore
import VedettePage

@testable import vedette

@Suite("What the page tries", .timeLimit(.minutes(10)))
struct PageTrialsTests {
    /// A configuration, a journal in memory, and a web server on loopback that keeps its requests.
    private final class World: Sendable {
        let directory: URL
        let journal = MemoryJournal()
        let requests = Mutex<[PageRequest]>([])

        init(_ configuration: String = "sinks: {out: {kind: stdout}}") throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "vedette-try-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try configuration.write(to: directory.appending(path: "a.yaml"), atomically: true, encoding: .utf8)
        }

        deinit { try? FileManager.default.removeItem(at: directory) }

        func trials() throws -> PageTrials {
            let loader = UserConfiguration.loader(try Paths.parse(["--config", directory.path]))
            return PageTrials(loader: loader.withoutSecrets, journal: journal)
        }

        func server(
            _ respond: @escaping @Sendable (String) async -> PageResponse
        ) async throws -> (server: PageServer, place: String) {
            let server = try await PageServer.start(.network(host: "127.0.0.1", port: 0)) { request in
                self.requests.withLock { $0.append(request) }
                return await respond("/" + request.path.joined(separator: "/"))
            }
            return (server, server.address.description)
        }
    }

    private static let rows = #"[{"id": 1, "name": "a", "state": "Ready"}, {"id": 2, "name": "b", "state": "Failed"}]"#

    private static func json(_ text: String) -> PageResponse { .text(text, contentType: "application/json") }

    private func problem<Value>(_ trial: () async throws(TrialProblem) -> Value) async -> String {
        do throws(TrialProblem) {
            _ = try await trial()
            return "none"
        } catch {
            guard case .failed(let sentence) = error else { return "\(error)" }
            return sentence
        }
    }

    // MARK: An address

    @Test("an address is read with its YAML, without passwords, and nothing is written")
    func address() async throws {
        let world = try World()
        let (server, place) = try await world.server { _ in Self.json(Self.rows) }
        let marker = world.directory.appending(path: "marker").path
        let configuration = """
            servers: {lab: {url: "http://\(place)", user: me, password: {command: [touch, "\(marker)"]}}}
            sources: {rows: {kind: json, server: lab, path: /rows, key: id}}
            sinks: {out: {kind: stdout}}
            """
        let file = world.directory.appending(path: "a.yaml")
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        let trial = try await world.trials().address("http://\(place)/rows?token=s3cret", privateAt: [place])
        await server.stop()
        #expect(trial.kind == "json" && trial.count == 2 && trial.items.map(\.state) == ["Ready", "Failed"])
        #expect(
            trial.yaml.contains("url: \"http://\(place)/rows?token=s3cret\"") && trial.yaml.contains("notify: [out]"))
        #expect(trial.summary.contains(place) && !trial.summary.contains("s3cret"))
        let requests = world.requests.withLock { $0 }
        #expect(requests.count == 2 && requests.allSatisfy { $0.header("Authorization") == nil })
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.directory.path) == ["a.yaml"])
        #expect(try String(contentsOf: file, encoding: .utf8) == configuration)
    }

    @Test("a private address is requested where it is allowed, and nowhere else: by no redirect, name or spelling")
    func privateAddresses() async throws {
        let world = try World()
        let (inside, secret) = try await world.server { _ in Self.json(Self.rows) }
        let (server, place) = try await world.server { path in
            path == "/away" ? .redirect(to: "http://\(secret)/") : Self.json(Self.rows)
        }
        let trials = try world.trials()
        let port = place.split(separator: ":").last ?? ""
        for (url, places) in [
            ("http://\(place)/rows", Set<String>()), ("http://\(place)/rows", [secret]),
            ("http://localhost:\(port)/rows", [place]), ("http://127.1:\(port)/rows", [place]),
            ("http://[::ffff:127.0.0.1]:\(port)/rows", [place]), ("http://169.254.169.254/latest", [place]),
        ] {
            let problem = await problem { () throws(TrialProblem) in try await trials.address(url, privateAt: places) }
            #expect(problem.contains("private address"), "\(url): \(problem)")
        }
        #expect(world.requests.withLock { $0.count } == 0)
        let away = await problem { () throws(TrialProblem) in
            try await trials.address("http://\(place)/away", privateAt: [place])
        }
        #expect(away.contains("private address") && !away.contains("allow_private"), "\(away)")
        #expect(world.requests.withLock { $0.map(\.path) } == [["away"]])
        #expect(try await trials.address("http://\(place)/rows", privateAt: [place]).count == 2)
        await server.stop()
        await inside.stop()
    }

    @Test("a proxy of the environment is not used, since it would resolve the name itself")
    func proxy() {
        var request = Request(url: "https://h.example/")
        PageTrials.bounds(privateAt: ["h.example:443"]).apply(to: &request)
        guard case .none = request.proxy else {
            Issue.record("\(request.proxy)")
            return
        }
        #expect(request.reach == .privateOnly(at: ["h.example:443"]))
        #expect(request.limits.total < .seconds(20) && request.limits.received == 4 << 20)
    }

    @Test("a body that is too long, a refusal and what nothing reads are failures without options of probe")
    func failures() async throws {
        let world = try World()
        let (server, place) = try await world.server { path in
            switch path {
            case "/long": Self.json("[" + String(repeating: "1,", count: 3 << 20) + "1]")
            case "/refused": .text("no", status: 401)
            case "/empty": .text("")
            default: .text("", status: 404)
            }
        }
        let trials = try world.trials()
        for (path, reason) in [("long", "4194304"), ("refused", "401"), ("empty", "nothing"), ("none", "404")] {
            let problem = await problem { () throws(TrialProblem) in
                try await trials.address("http://\(place)/\(path)", privateAt: [place])
            }
            #expect(problem.contains(reason) && !problem.contains("--kind"), "\(problem)")
        }
        let file = await problem { () throws(TrialProblem) in
            try await trials.address("file:///etc/passwd", privateAt: [])
        }
        #expect(file.contains("http"), "\(file)")
        await server.stop()
    }

    @Test("a trial whose server does not answer ends when it is cancelled")
    func cancelled() async throws {
        let world = try World()
        let (began, beginning) = AsyncStream<Void>.makeStream()
        let (server, place) = try await world.server { _ in
            beginning.yield()
            let (never, continuation) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            withExtendedLifetime(continuation) {}
            return .text("late")
        }
        let trials = try world.trials()
        let task = Task {
            await problem { () throws(TrialProblem) in try await trials.address("http://\(place)/", privateAt: [place])
            }
        }
        for await _ in began { break }
        task.cancel()
        #expect(await task.value.contains("timeout"))
        await server.stop()
    }

    // MARK: A rule

    private static let configuration = """
        sources: {lab: {kind: json, url: "https://lab.example/", key: id, state: state}}
        sinks: {out: {kind: stdout}, hook: {kind: webhook, url: "https://hook.example/", sign: {file: /none}}}
        rules:
          - {name: ready, when: {source: lab, field: state, to: Ready}, stop: true, notify: [out]}
          - {name: others, when: {appears: true}, notify: [out]}
        """

    private let end = Timestamp(rfc3339: "2026-11-21T12:00:00Z") ?? Timestamp(milliseconds: 0)

    private func world(events count: Int) throws -> World {
        let world = try World(Self.configuration)
        let events = (1...count).map { number in
            Event(
                id: Identifier("0199-\(number)"), kind: .changed, time: end.advanced(by: .seconds(-number * 60)),
                source: "lab", sourceKind: "json", poll: "p", item: Item(key: "\(number)", state: "Ready"),
                changes: [FieldChange(field: "state", from: "Starting", to: "Ready")])
        }
        _ = try world.journal.commit(
            [PollRecord(record: SourceRecord(name: "lab"), events: events.reversed())], within: .none)
        return world
    }

    @Test(
        "a rule is tried in each form in which it is written, also with the name of one that is there",
        arguments: [
            "name: ready\nwhen: {field: state, to: Ready}\nnotify: [hook]",
            "- name: ready\n  when: {field: state, to: Ready}\n  notify: [hook]",
            "rules:\n  - {name: ready, when: {field: state, to: Ready}, notify: [hook]}\nsettings: {listen: {}}",
        ])
    func rule(yaml: String) async throws {
        let world = try world(events: 5)
        let trial = try await world.trials().rule(yaml, from: end.advanced(by: .seconds(-200)), to: end)
        #expect(trial.events == 3 && trial.end == nil)
        #expect(trial.counts.map(\.rule) == ["ready"] && trial.counts.map(\.sink) == ["hook"])
        #expect(trial.counts.map(\.sent) == [3] && trial.messages.count == 3)
        #expect(world.journal.deliveries(DeliveryFilter(), after: 0, limit: 9).isEmpty)
    }

    @Test("what a rule lacks is told with its place, and nothing else of the configuration")
    func errors() async throws {
        let trials = try world(events: 1).trials()
        for (yaml, reason) in [
            ("name: x\nwhen: {appears: true}\nnotify: [hok]", "rule:3:10:"), ("name: x", "'when'"),
            ("when: {appears: true}\nnotify: [out]", "'name'"), ("a: [", "bad YAML"), ("rules: 7", "must be a list"),
            ("", "no rule"), ("[]", "no rule"),
        ] {
            let problem = await problem { () throws(TrialProblem) in try await trials.rule(yaml, from: end, to: end) }
            #expect(problem.contains(reason) && !problem.contains("a.yaml"), "\(yaml): \(problem)")
        }
    }

    @Test("what a suppressed message lacks and what waits is told; a match that waits is no message")
    func waiting() async throws {
        let world = try world(events: 5)
        let yaml =
            "name: x\nwhen: {field: state, to: Ready}\nfor: 3m\nlimit: {count: 1, per: 1h, by: rule}\nnotify: [out]"
        let trial = try await world.trials().rule(yaml, from: end.advanced(by: .seconds(-3600)), to: end)
        #expect(trial.events == 5 && trial.count >= 1 && !trial.waiting.isEmpty, "\(trial)")
        #expect(trial.waiting.allSatisfy { $0.hasPrefix("x: ") })
    }

    @Test("events beyond the limit are not played, and where the played ones end is told; a cancelled run plays none")
    func limits() async throws {
        let run = RuleTrialRun()
        let rule = Rule(name: "r", when: .any([.appears]), notify: [.init(sink: "out")])
        run.begin([rule], [], until: end)
        let event = Event(
            id: Identifier("0199"), kind: .changed, time: end.advanced(by: .seconds(-60)), source: "lab",
            sourceKind: "json", poll: "p")
        let page = [Event](repeating: event, count: 1000)
        for _ in 0..<100 { #expect(run.play(page)) }
        #expect(!run.play(page))
        let trial = run.finish()
        #expect(trial.events == 100_000 && trial.end == event.time)
        let cancelled = RuleTrialRun()
        cancelled.begin([rule], [], until: end)
        cancelled.cancel()
        #expect(!cancelled.play(page) && cancelled.finish().events == 0)
    }

    @Test("deadlines between two events are gone through to a limit, and whether some were left out is known")
    func manyDeadlines() {
        var rule = Rule(
            name: "r", when: .field("state", from: nil, to: .oneOf(["Ready"])), notify: [.init(sink: "out")])
        rule.gates.pendingFor = .seconds(60)
        for (limit, isCut) in [(2, true), (1000, false)] {
            var simulation = StoredEventSimulation(RuleSet([rule]), until: end, maximumSteps: limit)
            for number in 1...5 {
                _ = simulation.play(
                    Event(
                        id: Identifier("0199-\(number)"), kind: .changed,
                        time: end.advanced(by: .seconds(-300 + number)), source: "lab", sourceKind: "json", poll: "p",
                        item: Item(key: "\(number)", state: "Ready"),
                        changes: [FieldChange(field: "state", from: "Starting", to: "Ready")]))
            }
            _ = simulation.finish()
            #expect(simulation.isCut == isCut)
        }
    }
}
