// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteText

/// The options of `tail` that select events.
struct EventSelection: ParsableArguments {
    @Option(help: "Only events of this source.", completion: Completions.sources)
    var source: String?

    @Option(help: "Only events about this item: its key, or its title.", completion: Completions.items)
    var item: String?

    @Option(help: "Only events of which this rule made a message.", completion: Completions.rules)
    var rule: String?

    @Option(
        help: ArgumentHelp("Only events of this type, such as appeared, changed or failing; may be repeated."),
        completion: .list(EventSelection.types))
    var type: [String] = []

    @Flag(help: "Only events of which a message was sent, or will be.")
    var sent = false

    @Option(
        help: ArgumentHelp(
            "Begin with the events after this: 1h, 7d, 09:00, yesterday, 2026-11-21.", valueName: "duration or time"))
    var since: String?

    @Option(help: ArgumentHelp("End with the events before this, and follow none.", valueName: "duration or time"))
    var until: String?

    /// The last words of the types that events of a journal have.
    static let types = kinds.map(\.word)
    private static let kinds = Event.Kind.stored

    /// Returns the filter for the stored events; without its times it is the one for new events.
    /// - Throws: `Exit` for a name that neither the configuration nor the journal has, with the nearest one.
    func filter(_ places: Paths, now: Timestamp) async throws -> EventFilter {
        var filter = EventFilter(
            rule: rule, kinds: Set(try type.map(EventSelection.kind)), isSent: sent,
            since: try since.map { try EventSelection.time($0, now: now) },
            until: try until.map { try EventSelection.time($0, now: now) })
        if let since = filter.since, let until = filter.until, since >= until {
            throw Exit(.usage, "--since is not before --until, so that there is no event between them")
        }
        try await checkNames(places)
        filter.source = source
        if let item { (filter.source, filter.key) = try await find(item, places.journal) }
        return filter
    }

    static func kind(_ text: String) throws -> Event.Kind {
        let word = text.lowercased()
        if let kind = kinds.first(where: { $0.word == word || $0.rawValue == text }) { return kind }
        let remedy = didYouMean(text, among: types) ?? "; there are \(types.joined(separator: ", "))"
        throw Exit(.usage, "no event is of the type \(quoted(text))\(remedy)")
    }

    static func time(_ text: String, now: Timestamp, _ reader: LocalTimeReader = LocalTimeReader()) throws -> Timestamp
    {
        if let age = Duration(configured: text) { return now.advanced(by: .zero - age) }
        if let time = reader.past(text, now: now) { return time }
        guard reader.time(text, now: now) == nil else { throw Exit(.usage, "'\(text)' is in the future") }
        throw Exit(
            .usage, "'\(text)' is neither a duration nor a time; write 30m, 1h, 7d, 09:00, yesterday or 2026-11-21")
    }

    /// Refuses a source or rule that is neither configured nor named by an event of the journal, since nothing would ever be
    /// printed. Without a configuration here, every name is accepted.
    private func checkNames(_ places: Paths) async throws {
        let names = UserConfiguration.loader(places).names()
        guard !names.sources.isEmpty else { return }
        let reader = try? await places.journal.reader()
        let sources = names.sources.union(names.sinks).union([Event.watcher])
        let wanted = [
            ("source", source, sources, EventFilter(source: source)),
            ("rule", rule, names.rules, EventFilter(rule: rule)),
        ]
        for (noun, name, known, filter) in wanted {
            guard let name, !known.contains(name) else { continue }
            if let reader, try await !reader.lastEvents(1, filter).isEmpty { continue }
            throw Exit.unknown(noun, name, among: known)
        }
    }

    /// Finds the source and key of an item, which may be gone.
    private func find(_ item: String, _ journal: any JournalAccess) async throws -> (source: String, key: String) {
        let reader = try await journal.reader()
        var found: [(source: String, key: String)] = []
        var names: Set<String> = []
        let sources = if let source { [source] } else { try await reader.sourceRecords().map(\.name) }
        for name in sources {
            let items = try await reader.items(of: name).values.compactMap(\.item)
            if let match = try ItemLookup.find(item, among: items, of: name) {
                found.append((name, match.key))
            } else if try await !reader.history(source: name, key: item, limit: 1).isEmpty {
                found.append((name, item))
            } else if found.isEmpty {
                names.formUnion(items.flatMap { [$0.key, $0.title ?? $0.key] })
            }
        }
        guard let first = found.first else {
            let problem = source.map { "\($0) has no item \(quoted(item))" } ?? "no source has an item \(quoted(item))"
            throw Exit(.usage, problem + (didYouMean(item, among: names) ?? ""))
        }
        guard found.count == 1 else {
            let sources = found.map(\.source).joined(separator: ", ")
            throw Exit(.usage, "\(found.count) sources have an item '\(item)': \(sources); name one with --source")
        }
        return first
    }
}
