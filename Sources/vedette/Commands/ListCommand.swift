// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The items of a source, a URL or a file.",
        discussion: """
            Shows the last snapshot of a source and its age; --fresh polls now. Reads a URL or a file now and recognises \
            its kind. A source of that name is preferred to a file; ./NAME is the file.

            Examples:
              vedette list lab-systems --fresh
              vedette list https://www.swift.org/atom.xml
            """)

    @Argument(help: "A source, a URL or a file.", completion: Completions.sources)
    var subject: String

    @Option(help: "Kind of a URL or file; else it is recognised.", completion: Completions.kinds)
    var kind: String?

    @Flag(help: "Poll the source now; the journal is not touched.")
    var fresh = false

    // Not --state: that is the directory of the journal.
    @Option(help: "Only items in this state; may be repeated, and be a glob such as 'Fail*'.")
    var inState: [String] = []

    @Flag(help: "Show keys whole; else long ones by the part that tells them apart, which `show` takes too.")
    var keys = false

    @Flag(help: "NDJSON, one item a line.")
    var json = false

    @OptionGroup var places: Paths
    @OptionGroup var colour: ColourOptions

    func run() async throws {
        // Beside the configuration: thousands of items take their time.
        let journal = fresh || ItemLookup.isAddress(subject) ? nil : places.journalIfKnown
        let snapshot = Task { [subject] () async throws -> ItemLookup.Snapshot? in
            guard let journal else { return nil }
            return try await ItemLookup.snapshot(of: subject, in: journal)
        }
        switch try await ItemLookup.subject(subject, kind: kind, in: places, isFresh: fresh) {
        case .source(let source): try await list(source, journal, snapshot)
        case .read(let items): try show(items)
        }
    }

    /// - Parameters:
    ///   - journal: nil where its place has an error.
    ///   - snapshot: of the source in that journal.
    private func list(
        _ source: Source, _ journal: (any JournalAccess)?, _ snapshot: Task<ItemLookup.Snapshot?, any Error>
    ) async throws {
        if fresh {
            try show(try await ItemLookup.live(source).map { ItemTable.Row(item: $0) }, source)
            return
        }
        let journal = try journal ?? places.journal
        guard let snapshot = try await snapshot.value else {
            throw Exit(.unavailable, "\(source.name) has no snapshot yet; start `vedette run`, or use --fresh")
        }
        if !json {
            let isWatched = await journal.watcher() != nil
            let (text, isBad) = ListHeader.text(
                snapshot.record, source, isWatched: isWatched, now: SystemClock().now().wall)
            Output.diagnose(colour.diagnosticPalette.paint(text, isBad ? .doubtful : .faint))
        }
        try show(snapshot.shown(source.kind.mode), source)
    }

    private func show(_ items: [Item]) throws {
        let hasTimes = items.contains { $0.time != nil } && items.allSatisfy { $0.state == nil }
        try show(
            items.map { ItemTable.Row(item: $0) },
            ItemTable(
                palette: colour.palette, links: colour.links, kind: "", mode: hasTimes ? .window : .list,
                keepsKeys: keys))
    }

    private func show(_ rows: [ItemTable.Row], _ source: Source) throws {
        try show(
            rows,
            ItemTable(
                palette: colour.palette, links: colour.links, kind: source.kindName, mode: source.kind.mode,
                keepsKeys: keys))
    }

    private func show(_ rows: [ItemTable.Row], _ table: ItemTable) throws {
        let states = StateSelection(inState)
        let wanted = table.sorted(states.rows(rows))
        for remark in states.remarks(rows) { Output.diagnose(remark) }
        if json { return try Output.print(wanted.map { StyledText(painted: $0.item.json.text, width: 0) }) }
        if rows.isEmpty { Output.diagnose("no items") }
        guard !wanted.isEmpty else { return }
        try Output.print(
            table.lines(wanted, now: SystemClock().now().wall, width: TerminalSize.current?.columns))
    }
}
