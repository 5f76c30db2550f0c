// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteCore
import VedetteSinks
import VedetteJournal

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One item with its fields and its history.")

    @OptionGroup var places: Places
    @OptionGroup var style: Style

    @Argument(help: "The source.")
    var source: String

    @Argument(help: "The item's key, or its title when it is unique.")
    var key: String

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let source = try Workshop.source(source, in: try Workshop.configuration(places))
        guard let (items, at) = try await Lookup.snapshot(of: source.name, journal: places.journal()) else {
            throw Exit(.unavailable, "\(source.name) has no snapshot yet; start `vedette run` first")
        }
        let item = try Lookup.item(key, among: items, of: source.name)
        let reader = try JournalReader.open(directory: places.journal())
        let history = try await reader.history(source: source.name, key: item.key, limit: 20)
        if json {
            try Output.print(JSON.members(["item": item.json, "history": .array(history.map(\.json))]).bytes)
            return
        }
        var table = TextTable(["key", item.key])
        for name in ["title", "state", "url"] { if let value = item[name] { table.add([name, value.description]) } }
        for field in Array(item.fields) + Array(item.notes) { table.add([field.name, field.value.description]) }
        for line in table.lines { try Output.print(line) }
        try Output.print("read \(at.relative(to: SystemClock().now().wall))")
        if !history.isEmpty { try Output.print("") }
        for event in history { try Output.print(style.eventLine.text(event)) }
    }
}
