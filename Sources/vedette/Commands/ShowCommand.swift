// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One item with its fields, its links and its history.",
        discussion: """
            Fetches the resources that the item links to, for example its owner, and shows them too; --stored does not. Polls \
            a source that nothing has read yet, or that no watcher reads and whose item is unknown. A URL or a file is read \
            now, as by `list`.

            Examples:
              vedette show lab-systems 59
              vedette show lab-systems "Portal QA" --stored
              vedette show https://www.swift.org/atom.xml "Swift 6.3 Released"
            """
    )

    @Argument(help: "A source, a URL or a file.", completion: Completions.sources)
    var source: String

    @Argument(
        help: "The item's key, also short as `list` shows it, or its title when it is unique.",
        completion: Completions.items)
    var key: String

    @Option(help: "Kind of a URL or file; else it is recognised.", completion: Completions.kinds)
    var kind: String?

    @Flag(help: "Show only the journal; no network.")
    var stored = false

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func run() async throws {
        switch try await ItemLookup.subject(source, kind: kind, in: places, isFresh: false) {
        case .source(let source): try await show(source)
        case .read(let items):
            let item = try ItemLookup.item(key, among: items, of: source)
            try show(ItemDetail(item: item, readAt: SystemClock().now().wall, kind: ""))
        }
    }

    private func show(_ source: Source) async throws {
        let snapshot = try await ItemLookup.snapshot(of: source.name, in: places.journal)
        var item = try snapshot.flatMap { snapshot in
            try ItemLookup.find(key, among: snapshot.items, of: source.name)
                ?? ItemLookup.find(key, among: snapshot.absent, of: source.name)
        }
        var readAt = snapshot?.at
        if item == nil, !stored {
            let isWatched = try await places.journal.watcher() != nil
            if snapshot == nil || !isWatched {
                let configuration = try UserConfiguration.load(places, secrets: .ofSources)
                let items = try await ItemLookup.live(try UserConfiguration.source(source.name, in: configuration))
                item = try ItemLookup.item(key, among: items, of: source.name)
                readAt = SystemClock().now().wall
            }
        }
        guard let readAt else {
            throw Exit(.unavailable, "\(source.name) has no snapshot yet; start `vedette run`, or leave out --stored")
        }
        guard let item else { throw ItemLookup.unknown(key, among: snapshot?.items ?? [], of: source.name) }
        var detail = ItemDetail(item: item, readAt: readAt, kind: source.kindName)
        detail.since = snapshot?.rows.first { $0.item.key == item.key }?.since
        detail.details = try await details(of: item, in: source)
        if snapshot != nil { detail.history = try await history(of: item, in: source) }
        try show(detail)
    }

    private func show(_ detail: ItemDetail) throws {
        if json {
            let object = JSON.members([
                "item": detail.item.json, "since": detail.since.map { .string($0.rfc3339) },
                "details": detail.details.isEmpty ? nil : detail.details.json,
                "history": .array(detail.history.map(\.event.json)),
                "deliveries": .array(detail.history.flatMap(\.deliveries).map(\.json)),
            ])
            return try Output.print(object.bytes)
        }
        try Output.print(
            detail.lines(
                colour.palette, links: colour.links, now: SystemClock().now().wall,
                width: TerminalSize.current?.columns))
    }

    private func history(of item: Item, in source: Source) async throws -> [ItemDetail.Past] {
        let reader = try await places.journal.reader()
        var history: [ItemDetail.Past] = []
        for event in try await reader.history(source: source.name, key: item.key, limit: 20) {
            let deliveries = try await reader.deliveries(.init(event: event.seq), after: 0, limit: 20)
            history.append(ItemDetail.Past(event: event, deliveries: deliveries))
        }
        return history
    }

    /// Reads what its links add to the stored item.
    private func details(of item: Item, in source: Source) async throws -> Fields {
        guard !stored, !source.kind.links(of: item, base: source.url, all: true).isEmpty else { return [:] }
        guard
            let source = UserConfiguration.loader(places, secrets: .ofSources).load().configuration?.sources.first(
                where: {
                    $0.name == source.name
                })
        else {
            Output.diagnose(
                "vedette: \(source.name): its links are not read, since the secrets of the configuration are not here")
            return [:]
        }
        let (notes, warnings) = try await ItemLookup.links(of: item, in: source)
        for warning in warnings { Output.diagnose("vedette: \(source.name): \(warning)") }
        var details: Fields = [:]
        for note in notes where item.notes[note.name] != note.value { details[note.name] = note.value }
        return details
    }
}

extension Fields {
    fileprivate var json: JSON {
        .object(
            map { field in
                switch field.value {
                case .text(let text): JSON.Member(name: field.name, value: .string(text))
                case .list(let list): JSON.Member(name: field.name, value: .array(list.map(JSON.string)))
                }
            })
    }
}

extension DeliveryStatus {
    fileprivate var json: JSON {
        .members([
            "event": .number(delivery.message.event.seq), "rule": .string(delivery.message.rule),
            "sink": .string(delivery.message.sink), "state": .string(state.rawValue),
            "ended": endedAt.map { .string($0.rfc3339) }, "reason": delivery.reason.map(JSON.string),
        ])
    }
}
