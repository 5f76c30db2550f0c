// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import VedetteConfig
import VedetteCore
import VedettePostgres

struct AckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ack", abstract: "Acknowledge a match: no reminders and no escalations of it until it changes.",
        discussion: """
            It ends with the match, and with the next match of the same item. A running watcher applies it within a second. \
            The next message about the item says who acknowledged it.

            Examples:
              vedette ack hosts-down web-3 --note "the disk is being replaced"
              vedette ack hosts-down web-3 --undo
            """)

    @Argument(help: "The rule.", completion: Completions.rules)
    var rule: String

    @Argument(help: "The item: its key, or its title when that is unique; or a source.", completion: Completions.items)
    var key: String

    @Option(help: "The source, where items of several have the key.", completion: Completions.sources)
    var source: String?

    @Option(help: ArgumentHelp("What the next message and `status` say with it.", valueName: "text"))
    var note: String?

    @Flag(help: "Take it back. What was due meanwhile is sent.")
    var undo = false

    @OptionGroup var places: Paths

    func run() async throws {
        let configuration = try UserConfiguration.readable(places)
        let rule = try UserConfiguration.rule(rule, in: configuration)
        let journal = try places.journal
        let firing = try await journal.reader().ruleMemories().filter { $0.key.rule == rule.name }
            .compactMap(\.firingMatch)
        guard !firing.isEmpty else {
            let cause =
                rule.remembersMatches
                ? "no match that it told is true now" : "it has no 'remind', 'escalate' or 'resolved'"
            throw Exit(.data, "rule \(quoted(rule.name)) has nothing to acknowledge: \(cause)")
        }
        let names = firing.map { RuleSubject($0) }
        guard let subject = try RuleSubject.find(key, source: source, among: names, of: rule),
            let match = firing.first(where: { Subject($0) == subject.subject })
        else {
            let known = names.map(\.name).sorted().prefix(5).map(quoted).joined(separator: ", ")
            throw Exit(
                .data,
                "rule \(quoted(rule.name)) told nothing of \(quoted(key)) that is true now; it did of \(known)"
                    + (names.count > 5 ? ", …" : ""))
        }
        let now = SystemClock().now().wall
        let acknowledgement = undo ? nil : Acknowledgement.ofUser(match.id.description, note: note, at: now)
        try await journal.acknowledge(rule: rule.name, subject.subject, acknowledgement, at: now)
        try Output.print(
            "\(undo ? "no longer acknowledged" : "acknowledged"): \(subject.name), rule \(quoted(rule.name))")
        if await journal.watcher() == nil {
            Output.diagnose("vedette: no watcher runs: the next `vedette run` applies it before it sends anything")
        }
    }
}

extension Acknowledgement {
    /// What the user of this process says.
    static func ofUser(_ match: String, note: String? = nil, at now: Timestamp) -> Acknowledgement {
        // Where a person runs the command as the user of the service.
        let person = getenv("SUDO_USER").map { String(cString: $0) }
        let user = person ?? getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "user \(geteuid())"
        return Acknowledgement(match: match, user: user, host: WatcherProcess.hostName, note: note, time: now)
    }
}

/// An item or a source that a rule is about, as a command names it.
struct RuleSubject {
    let subject: Subject
    let title: String?

    /// What an event is about.
    init(_ event: Event) { (subject, title) = (Subject(event), event.item?.title) }

    /// A stored item.
    init(_ item: Item, of source: String) { (subject, title) = (Subject(source: source, key: item.key), item.title) }

    /// A source itself.
    init(source: String) { (subject, title) = (Subject(source: source, key: nil), nil) }

    /// The title, else the key, else the source.
    var name: String { title ?? subject.key ?? subject.source }

    private func isCalled(_ name: String) -> [Bool] {
        [
            subject.key == name, title == name, subject.key.map { ShortKeys.isShort(name, of: $0) } ?? false,
            subject.key == nil && subject.source == name,
        ]
    }

    /// Returns the subject with that key, with that title, or with that short key, or the source of that name.
    /// - Throws: `Exit` with the candidates when it is not unique.
    static func find(
        _ wanted: String, source: String?, among all: [RuleSubject], of rule: Rule
    ) throws -> RuleSubject? {
        let possible = all.filter { $0.subject.source == source ?? $0.subject.source }
        for way in 0..<4 {
            let found = possible.filter { $0.isCalled(wanted)[way] }
            if found.count < 2 {
                if let only = found.first { return only }
                continue
            }
            let names = found.map { "\($0.subject.key ?? "") of \($0.subject.source)" }.sorted().prefix(5)
            throw Exit(
                .data,
                "\(found.count) items of rule \(quoted(rule.name)) are called \(quoted(wanted)); use the key, and --source: "
                    + names.joined(separator: ", ") + (found.count > 5 ? ", …" : ""))
        }
        return nil
    }
}
