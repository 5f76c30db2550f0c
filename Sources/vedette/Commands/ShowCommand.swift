// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
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

    @Argument(help: "The item's key, or its title when it is unique.", completion: Completions.items)
    var key: String

    @Flag(help: "Show only the journal; no network.")
    var stored = false

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func run() async throws {
        let source = try KindRegistry.source(source, in: try KindRegistry.configuration(places))
        guard let snapshot = try await ItemLookup.snapshot(of: source.name, in: places.journal) else {
            throw Exit(.unavailable, "\(source.name) has no snapshot yet; start `vedette run` first")
        }
        let item = try ItemLookup.item(key, among: snapshot.items, of: source.name)
        let reader = try await places.journal.reader()
        let history = try await reader.history(source: source.name, key: item.key, limit: 20)
        let details = try await details(of: item, in: source)
        if json {
            let object = JSON.members([
                "item": item.json, "details": details.isEmpty ? nil : details.json,
                "history": .array(history.map(\.json)),
            ])
            try Output.print(object.bytes)
            return
        }
        var table = TextTable(columns: 2)
        table.add(["key", item.key])
        for name in ["title", "state", "url"] { if let value = item[name] { table.add([name, value.description]) } }
        for field in Array(item.fields) + Array(item.measures) + Array(item.notes) + Array(details) {
            table.add([field.name, field.value.description])
        }
        for line in table.lines { try Output.print(line) }
        try Output.print("read \(snapshot.at.relative(to: SystemClock().now().wall))")
        if !history.isEmpty { try Output.print("") }
        for event in history { try Output.print(colour.palette.line(of: event)) }
    }

    /// Reads what its links add to the stored item.
    private func details(of item: Item, in source: Source) async throws -> Fields {
        guard !stored, !source.kind.links(of: item, base: source.url, all: true).isEmpty else { return [:] }
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
