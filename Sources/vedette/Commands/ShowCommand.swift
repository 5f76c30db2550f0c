// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteSinks

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One item with its fields, its links and its history.",
        discussion: """
            Fetches the resources that the item links to, for example its owner, and shows them too; --stored does not.

            Examples:
              vedette show lab-systems 59
              vedette show lab-systems "Portal QA" --stored
            """
    )

    @Argument(help: "The source.", completion: Completions.sources)
    var source: String

    @Argument(
        help: "The item's key, also short as `list` shows it, or its title when it is unique.",
        completion: Completions.items)
    var key: String

    @Flag(help: "Show only the journal; no network.")
    var stored = false

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func run() async throws {
        let source = try UserConfiguration.source(source, in: try UserConfiguration.load(places, readsSecrets: false))
        guard let snapshot = try await ItemLookup.snapshot(of: source.name, in: places.journal) else {
            throw Exit(.unavailable, "\(source.name) has no snapshot yet; start `vedette run` first")
        }
        let item = try ItemLookup.item(key, among: snapshot.items, of: source.name)
        let reader = try await places.journal.reader()
        var history: [ItemDetail.Past] = []
        for event in try await reader.history(source: source.name, key: item.key, limit: 20) {
            let deliveries = try await reader.deliveries(.init(event: event.seq), after: 0, limit: 20)
            history.append(ItemDetail.Past(event: event, deliveries: deliveries))
        }
        let details = try await details(of: item, in: source)
        let since = snapshot.rows.first { $0.item.key == item.key }?.since
        if json {
            let object = JSON.members([
                "item": item.json, "since": since.map { .string($0.rfc3339) },
                "details": details.isEmpty ? nil : details.json,
                "history": .array(history.map(\.event.json)),
                "deliveries": .array(history.flatMap(\.deliveries).map(\.json)),
            ])
            return try Output.print(object.bytes)
        }
        let detail = ItemDetail(
            item: item, since: since, details: details, readAt: snapshot.at, history: history, kind: source.kindName)
        try Output.print(
            detail.lines(
                colour.palette, links: colour.links, now: SystemClock().now().wall,
                width: TerminalSize.current?.columns))
    }

    /// Reads what its links add to the stored item.
    private func details(of item: Item, in source: Source) async throws -> Fields {
        guard !stored, !source.kind.links(of: item, base: source.url, all: true).isEmpty else { return [:] }
        guard
            let source = UserConfiguration.loader(places).load().configuration?.sources.first(where: {
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
