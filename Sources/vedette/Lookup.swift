// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore
import VedetteEngine
import VedetteHTTP
import VedetteJournal

/// Where the items that a command shows come from: the journal, the network, or a file.
enum Lookup {
    /// The items present in a source's snapshot, and when it was read; nil when there is none.
    static func snapshot(of source: String, journal: String) async throws(JournalError) -> (
        items: [Item], at: Timestamp
    )? {
        let reader: JournalReader
        do throws(JournalError) {
            reader = try JournalReader.open(directory: journal)
        } catch {
            if error.reason == .missing { return nil }
            throw error
        }
        guard let head = try await reader.sourceRecords().first(where: { $0.name == source })?.snapshot else {
            return nil
        }
        let stored = try await reader.items(of: source)
        return (stored.values.filter { $0.absentSince == nil }.compactMap(\.item), head.goodAt)
    }

    /// Reads a source now.
    static func live(_ source: Source) async throws -> [Item] {
        let client = try HTTPClient()
        let reading = LiveReading(
            fetcher: FileFetcher(web: client), clock: SystemClock(), userAgent: Workshop.userAgent)
        let result: Result<[Item], ReadError>
        do throws(ReadError) {
            result = .success(try await reading.items(of: source))
        } catch {
            result = .failure(error)
        }
        await client.shutdown()
        do {
            return try result.get()
        } catch {
            throw Exit(.unavailable, "\(source.name): \(error.failure.rawValue): \(error.detail)")
        }
    }

    /// A source for a URL or file that nobody configured.
    static func passing(_ place: String, kind: String?) throws -> Source {
        let name =
            kind ?? (place.contains("virtualSystems") ? "cloudburst" : place.hasSuffix(".json") ? "json" : "feed")
        guard let entry = Workshop.sourceKinds.first(where: { $0.name == name }) else {
            let guess = suggestion(for: name, among: Workshop.sourceKinds.map(\.name))
            throw Exit(.usage, "no kind is called '\(name)'" + (guess.map { "; did you mean '\($0)'?" } ?? ""))
        }
        return Source(
            name: place, kindName: name, kind: try entry.make(Options()), server: Server(name: ""), url: place,
            pace: Pace(every: entry.every))
    }

    static func file(_ path: String, as source: Source) throws -> [Item] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Exit(.usage, "\(path): this file cannot be read")
        }
        var page = PageBody(bytes: Array(data), url: "https://file.example.org/")
        do throws(ReadError) {
            return try source.kind.read(&page).items
        } catch {
            throw Exit(.data, "\(path): \(error.failure.rawValue): \(error.detail)")
        }
    }

    /// The item with that key, or with that title when it is the only one.
    static func item(_ wanted: String, among items: [Item], of source: String) throws -> Item {
        if let item = items.first(where: { $0.key == wanted }) { return item }
        let titled = items.filter { $0.title == wanted }
        if titled.count == 1 { return titled[0] }
        if titled.count > 1 {
            let keys = titled.map(\.key).sorted().joined(separator: ", ")
            throw Exit(
                .data, "\(titled.count) items of \(source) are called '\(wanted)'; use one of their keys: \(keys)")
        }
        let near = suggestion(for: wanted, among: items.flatMap { [$0.key, $0.title ?? $0.key] })
        throw Exit(.data, "\(source) has no item '\(wanted)'" + (near.map { "; did you mean '\($0)'?" } ?? ""))
    }
}
