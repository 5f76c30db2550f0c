// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// One source of a preset with successive bodies in the shape of its system.
struct Preset: Sendable, CustomTestStringConvertible {
    var file: String
    var source: String
    /// Each is one poll, its pages joined by a plus sign; below Tests/Fixtures/presets, or above it with `../`.
    var polls: [String]
    /// `POLL sign TITLE: what`; the sign is + for appeared, ~ for changed and - for disappeared.
    var events: [String]
    /// `SINK (RULE)`, and its title where the preset writes one.
    var sent: [String]

    var testDescription: String { "\(file): \(source)" }

    static let directory = Program.root.appending(path: "rules/presets")
    private static let fixtures = Program.root.appending(path: "Tests/Fixtures/presets")

    var arguments: [String] {
        polls.map { poll in
            poll.split(separator: "+").map { Preset.fixtures.appending(path: $0).path }.joined(separator: "+")
        }
    }
}

@Suite("Presets and examples under rules/", .timeLimit(.minutes(10)))
struct PresetTests {
    /// A configuration of that file alone, and what its `{env: NAME}` ask for.
    private func home(_ file: URL) throws -> (Home, [String: String]) {
        let home = try Home()
        let text = try String(contentsOf: file, encoding: .utf8)
        try home.write(text)
        return (home, try PresetTests.environment(of: text, in: home))
    }

    /// Gives a configuration its secrets, each of the shape that its kind takes for one.
    /// - Returns: the environment with those that are read from there, and with the place of the others.
    static func environment(of text: String, in home: Home) throws -> [String: String] {
        let credentials = home.directory.appending(path: "credentials")
        try FileManager.default.createDirectory(at: credentials, withIntermediateDirectories: true)
        for name in text.matches(of: /\{credential: ([a-z-]+)\}/).map({ String($0.1) }) {
            let secret = secrets[name] ?? "a-secret-of-the-test"
            try Data(secret.utf8).write(to: credentials.appending(path: name))
        }
        let names = text.matches(of: /\{env: ([A-Z_]+)\}/).map { String($0.1) }
        let pairs = names.map { name in
            let isAddress = name.hasSuffix("WEBHOOK") || name.hasSuffix("WORKFLOW")
            let standard = isAddress ? "https://hooks.example.com/hooks/a-secret-of-the-test" : "a-secret-of-the-test"
            return (name, secrets[name] ?? standard)
        }
        return Dictionary(pairs + [("CREDENTIALS_DIRECTORY", credentials.path)]) { first, _ in first }
    }

    private static let secrets = [
        "googlechat": "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=a&token=b",
        "mattermost": "https://chat.example.com/hooks/a-secret-of-the-test",
        "teams": "https://flows.example.com/workflows/a/triggers/manual/paths/invoke?sig=b",
        "hook-key": "whsec_YS1zZWNyZXQtb2YtdGhlLXRlc3QtMTIzNDU2Nzg5",
        "TELEGRAM_TOKEN": "123456789:AAa-secret-of-the-test-aaaaaaaaaaaaa",
        "HOOK_KEY": "whsec_YS1zZWNyZXQtb2YtdGhlLXRlc3QtMTIzNDU2Nzg5",
    ]

    private static func files(in directory: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "yaml" }.sorted { $0.path < $1.path }
    }

    @Test("every file under rules/ passes check by itself")
    func check() async throws {
        let files =
            try PresetTests.files(in: Program.root.appending(path: "rules"))
            + PresetTests.files(in: Preset.directory)
        #expect(files.count >= 17)
        for file in files {
            let (home, environment) = try home(file)
            let result = try await Program.run(["check"] + home.places, environment: environment)
            #expect(result.code == 0, "\(file.lastPathComponent): \(result.out)\(result.err)")
        }
    }

    @Test("all files under rules/ pass check together, in one directory")
    func together() async throws {
        let home = try Home()
        var environment: [String: String] = [:]
        let directory = Program.root.appending(path: "rules")
        for file in try PresetTests.files(in: directory) + PresetTests.files(in: Preset.directory) {
            let text = try String(contentsOf: file, encoding: .utf8)
            try home.write(text, to: file.lastPathComponent)
            environment.merge(try PresetTests.environment(of: text, in: home)) { first, _ in first }
        }
        let result = try await Program.run(["check"] + home.places, environment: environment)
        #expect(result.code == 0, "\(result.out)\(result.err)")
    }

    @Test("every preset is replayed below")
    func complete() throws {
        let names = Set(try PresetTests.files(in: Preset.directory).map { $0.lastPathComponent })
        // An http source observes the response itself, which is no body: ActionTests runs that preset.
        let withoutBodies: Set = ["alertmanager-post.yaml"]
        #expect(names.subtracting(withoutBodies) == Set(Preset.all.map { $0.file + ".yaml" }))
    }

    @Test("a preset says first whether a server confirmed it, which those can that contrib/systems starts")
    func confirmed() throws {
        let systems = try FileManager.default.contentsOfDirectory(
            at: Program.root.appending(path: "contrib/systems"), includingPropertiesForKeys: nil)
        let started = try systems.filter { $0.pathExtension == "py" }.flatMap { file in
            let text = try String(contentsOf: file, encoding: .utf8)
            return text.matches(of: /preset = .*"([a-z0-9-]+)"\n/).map { String($0.1) }
        }
        #expect(started.count >= 14)
        for file in try PresetTests.files(in: Preset.directory) {
            let name = file.deletingPathExtension().lastPathComponent
            let first = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")[1]
            let none = "# Confirmed by no server: written from the documentation."
            #expect(first == none || first.contains(/^# Confirmed with [^ ].*\.$/), "\(name): \(first)")
            // This program's own feed is read by the tests of the page.
            #expect(first == none || started.contains(name) || name == "vedette", "\(name): \(first)")
        }
    }

    private func text(_ value: Any?) -> String {
        value as? String ?? (value as? [String])?.joined(separator: ", ") ?? "∅"
    }

    private func line(_ event: [String: Any]) -> String {
        let poll = event.text("data", "poll")?.dropFirst(2) ?? ""
        let type = event.text("type")?.split(separator: ".").last ?? ""
        let sign = ["appeared": "+", "changed": "~", "disappeared": "-"][type] ?? String(type)
        let title = event.text("data", "item", "title") ?? event.text("subject") ?? ""
        let changes = (event.at("data", "changes") as? [[String: Any]] ?? []).map { change in
            "\(change["field"] ?? "") \(text(change["from"])) → \(text(change["to"]))"
        }
        let state = event.text("data", "item", "state") ?? ""
        return "\(poll) \(sign) \(title): \(sign == "~" ? changes.sorted().joined(separator: ", ") : state)"
    }

    @Test("a preset reads its system's bodies as the events and messages expected", arguments: Preset.all)
    func replay(preset: Preset) async throws {
        let (home, environment) = try home(Preset.directory.appending(path: preset.file + ".yaml"))
        let result = try await Program.run(
            ["replay", preset.source, "--json", "--at", "2026-11-21T16:00:00Z", "--every", "1m"] + preset.arguments
                + home.places,
            environment: environment)
        #expect(result.code == 0, "\(result.err)")
        #expect(result.json.map(line).sorted() == preset.events.sorted())
        let sent = result.err.split(separator: "\n").filter { $0.contains("→ ") }
            .map { String($0.trimmingCharacters(in: .whitespaces).dropFirst(2)) }.sorted()
        #expect(sent.count == preset.sent.count, "\(result.err)")
        for (sent, expected) in zip(sent, preset.sent.sorted()) { #expect(sent.hasPrefix(expected)) }
    }

    @Test(
        "an error body of the system fails the poll in the system's words and changes nothing",
        arguments: [
            ("github-actions", "github-runs", "github-actions-error.json", "Bad credentials"),
            ("kubernetes", "kube-pods", "kubernetes-error.json", "The provided continue parameter is too old"),
            ("google-search", "search-results", "../google-search-error.json", "Quota exceeded for this client."),
            ("proxmox", "proxmox-guests", "proxmox-error.json", "leads to null"),
            ("evri", "evri-articles", "../evri-error.xml", "No such entity."),
            ("ec2", "ec2-instances", "ec2-error.xml", "AWS was not able to validate the provided access credentials"),
            ("supervisor", "supervisor-programs", "supervisor-error.xml", "SHUTDOWN_STATE"),
            ("transmission", "transmission-torrents", "transmission-error.json", "method name not recognized"),
            ("aria2", "aria2-downloads", "aria2-error.json", "Unauthorized"),
            ("docker-registry", "registry-tags", "docker-registry-error.json", "repository name not known to registry"),
            ("gitea", "gitea-pulls", "gitea-error.json", "user does not exist"),
            ("vcenter", "vcenter-machines", "vcenter-error.json", "This method requires authentication."),
            ("openstack-keystone", "keystone-users", "openstack-keystone-error.json", "requires authentication"),
            ("portainer", "portainer-containers", "portainer-error.json", "Invalid API key"),
            ("immich", "immich-queues", "immich-error.json", "Invalid API key"),
            (
                "nextcloud", "nextcloud-notifications", "nextcloud-notifications-error.json",
                "Current user is not logged in"
            ),
        ])
    func errorBodies(file: String, source: String, body: String, words: String) async throws {
        let (home, environment) = try home(Preset.directory.appending(path: file + ".yaml"))
        let polls = Preset(file: file, source: source, polls: [body], events: [], sent: []).arguments
        let result = try await Program.run(
            ["replay", source, "--json"] + polls + home.places, environment: environment)
        #expect(result.code == 65)
        #expect(result.err.contains(words), "\(result.err)")
        #expect(result.out.isEmpty)
    }
}
