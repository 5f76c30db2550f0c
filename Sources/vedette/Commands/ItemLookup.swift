// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteHTTP
import VedetteSources

/// Finds the items that a command shows: in the journal, over the network, or in a file.
enum ItemLookup {
    /// The items of a source's snapshot.
    struct Snapshot {
        /// The items, each with the time at which it got its state.
        var rows: [ItemTable.Row]
        /// Items that the last poll did not show, and that are not gone yet.
        var absentRows: [ItemTable.Row]
        /// The source between polls.
        var record: SourceRecord
        /// When the source was last read.
        var at: Timestamp

        var items: [Item] { rows.map(\.item) }
        var absent: [Item] { absentRows.map(\.item) }

        /// The items as `list` shows them.
        func shown(_ mode: ReadingMode) -> [ItemTable.Row] {
            rows + absentRows.filter { row in row.since.map { mode.showsLeft(since: $0, readAt: at) } ?? false }
        }
    }

    /// What an argument names: a configured source, or the items that a URL or a file has now.
    enum Subject {
        case source(Source)
        case read([Item])
    }

    /// Returns whether an argument is a URL, and so no source.
    static func isAddress(_ text: String) -> Bool { WebURL(text) != nil || text.hasPrefix("file:///") }

    /// Finds the source of that name, or reads the URL or file. `./NAME` is always the file.
    /// - Parameters:
    ///   - kind: of a URL or file; nil to recognise it.
    ///   - isFresh: whether the source is to be read now.
    static func subject(_ text: String, kind: String?, in places: Paths, isFresh: Bool) async throws -> Subject {
        if isAddress(text) { return .read(try await items(at: text, kind: kind)) }
        let loader = UserConfiguration.loader(places, secrets: isFresh ? .ofSources : .none)
        // A file can be listed without a configuration, and beside a broken one.
        guard FileManager.default.fileExists(atPath: text) else {
            if loader.isMissing {
                throw Exit(.usage, "there is no file '\(text)', and no configuration with a source of that name")
            }
            let configuration =
                isFresh
                ? try UserConfiguration.load(places, secrets: .ofSources) : try UserConfiguration.readable(places)
            return .source(try UserConfiguration.source(text, in: configuration))
        }
        if let source = loader.load().configuration?.sources.first(where: { $0.name == text }) {
            return .source(source)
        }
        return .read(try await items(inFile: text, kind: kind))
    }

    /// Reads the snapshot of a source; nil when there is none.
    /// - Parameter keys: of the items that are read; nil for all.
    static func snapshot(
        of source: String, in journal: any JournalAccess, withKeys keys: Set<String>? = nil
    ) async throws(JournalError) -> Snapshot? {
        let reader: any JournalReader
        do throws(JournalError) {
            reader = try await journal.reader()
        } catch {
            if error.reason == .missing { return nil }
            throw error
        }
        guard let record = try await reader.sourceRecord(of: source), let head = record.snapshot else { return nil }
        let stored: [String: StoredItem]
        if let keys {
            stored = try await reader.items(of: source, withKeys: keys)
        } else {
            stored = try await reader.items(of: source)
        }
        return Snapshot(
            rows: await rows(stored.values.filter { $0.absentSince == nil }),
            absentRows: decoded(stored.values.filter { $0.absentSince != nil }[...]), record: record, at: head.goodAt)
    }

    /// Decodes rows on two processors: with thousands of them that takes as long as to read them.
    private static func rows(_ stored: [StoredItem]) async -> [ItemTable.Row] {
        let half = stored.count / 2
        async let beginning = decoded(stored[..<half])
        let end = decoded(stored[half...])
        return await beginning + end
    }

    private static func decoded(_ stored: ArraySlice<StoredItem>) -> [ItemTable.Row] {
        stored.compactMap { row in row.item.map { ItemTable.Row(item: $0, since: row.stateSince) } }
    }

    /// Polls a source now.
    static func live(_ source: Source) async throws -> [Item] {
        try await reading(of: source.name) { reading async throws(ReadError) in try await reading.items(of: source) }
    }

    /// Reads the resources that an item links to: what they add to it, and a warning for each that failed.
    static func links(of item: Item, in source: Source) async throws -> (notes: Fields, warnings: [String]) {
        try await reading(of: source.name) { reading in await reading.links(of: item, in: source) }
    }

    private static func reading<Answer: Sendable>(
        of name: String, _ read: (OneShotPoll) async throws(ReadError) -> Answer
    ) async throws -> Answer {
        let client = try HTTPClient(pages: HTMLLoginPage())
        let live = OneShotPoll(
            fetcher: SourceFetcher(web: client), clock: SystemClock(), userAgent: UserAgent.standard,
            transformer: JQTransformer())
        let result: Result<Answer, ReadError>
        do throws(ReadError) {
            result = .success(try await read(live))
        } catch {
            result = .failure(error)
        }
        await client.shutdown()
        do {
            return try result.get()
        } catch {
            throw Exit(.unavailable, "\(name): \(error.failure.rawValue): \(error.detail)")
        }
    }

    /// Reads the items at a URL that is not configured: recognises the kind by the first page and reads all pages.
    static func items(at url: String, kind: String?) async throws -> [Item] {
        if let kind { try check(kind: kind) }
        var bounds = ProbeTarget.Bounds()
        bounds.isOfOther = true
        let target = try ProbeTarget(url, kind: kind, bounds: bounds)
        let client = try HTTPClient(pages: HTMLLoginPage())
        let answer: Result<ProbeTarget.Answer, any Error>
        do { answer = .success(try await target.fetch(SourceFetcher(web: client))) } catch { answer = .failure(error) }
        await client.shutdown()
        let (page, response) = (try answer.get().page, try answer.get().response)
        let found: WorkingProposal
        do throws(ReadError) {
            found = try await WorkingProposal.from(page, response, kind: kind)
        } catch {
            throw Exit(.data, "\(url): \(error.failure.rawValue): \(error.detail)")
        }
        guard found.hasMore, found.kind.mode == .list else { return found.items }
        return try await live(
            Source(
                name: url, kindName: found.proposal.kind, kind: found.kind, server: Server(name: ""), url: url,
                interval: PollInterval(every: PollInterval.usual)))
    }

    static func items(inFile path: String, kind: String?) async throws -> [Item] {
        if let kind { try check(kind: kind) }
        let page = PageBody(bytes: try InputFile.bytes(path), url: URL(filePath: path).absoluteString)
        do throws(ReadError) {
            return try await WorkingProposal.from(page, nil, kind: kind).items
        } catch {
            throw Exit(.data, "\(path): \(error.failure.rawValue): \(error.detail)")
        }
    }

    static func check(kind name: String) throws {
        let known = KindRegistry.sourceKinds.map(\.name)
        if !known.contains(name) { throw Exit.unknown("kind", name, among: known) }
    }

    /// Returns the item with that key, or with that title when it is unique.
    /// - Throws: `Exit` with the candidates or the nearest name.
    static func item(_ wanted: String, among items: [Item], of source: String) throws -> Item {
        guard let item = try find(wanted, among: items, of: source) else {
            throw unknown(wanted, among: items, of: source)
        }
        return item
    }

    /// Returns the item with that key, with that title, or with that short key; nil when there is none.
    /// - Throws: `Exit` with their keys when several items have that title or short key.
    static func find(_ wanted: String, among items: [Item], of source: String) throws -> Item? {
        let key = IndexedText.bounded(wanted)
        if let item = items.first(where: { $0.key == key }) { return item }
        var named = items.filter { $0.title == wanted }
        if named.isEmpty { named = items.filter { ShortKeys.isShort(wanted, of: $0.key) } }
        guard named.count > 1 else { return named.first }
        let keys = named.map(\.key).sorted().prefix(5).joined(separator: ", ")
        let more = named.count > 5 ? ", …" : ""
        throw Exit(
            .data, "\(named.count) items of \(source) are called '\(wanted)'; use one of their keys: \(keys)\(more)")
    }

    /// Returns the error for a name that no item has.
    static func unknown(_ wanted: String, among items: [Item], of source: String) -> Exit {
        let near = guess(wanted, among: items)
        return Exit(
            .data,
            "\(source) has no item \(quoted(wanted))" + (near.isEmpty ? "; `vedette list \(source)` shows all" : near))
    }

    /// Returns the nearest name as the end of a sentence; empty where none is near.
    static func guess(_ wanted: String, among items: [Item]) -> String {
        didYouMean(wanted, among: items.flatMap { [$0.key, $0.title ?? $0.key] }) ?? ""
    }
}
