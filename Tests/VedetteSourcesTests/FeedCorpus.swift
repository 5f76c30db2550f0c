// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

/// The corpus of feeds: files with their real bytes, and a table of what each must give.
enum FeedCorpus {
    /// One row of `Corpus/feeds.json`. What a row does not name is not checked.
    struct Row: Sendable, CustomTestStringConvertible {
        let file: String
        let json: JSON

        var testDescription: String { file }
        var charset: String? { json["charset"]?.string }
        var error: String? { json["error"]?.string }
        var items: Int { Int(json["items"]?.int64 ?? -1) }
        var warnings: [String] { json["warnings"]?.array?.compactMap(\.string) ?? [] }
        var body: [UInt8] { get throws { try FeedCorpus.bytes(file) } }
    }

    static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")
    /// After every date of the corpus but one.
    static let received = Timestamp(rfc3339: "2026-11-21T12:00:00Z") ?? Timestamp(milliseconds: 0)

    static func bytes(_ file: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appending(path: "feeds/\(file)")))
    }

    static let rows: [Row] = {
        guard let text = try? Data(contentsOf: directory.appending(path: "feeds.json")),
            let table = try? JSON(parsing: Array(text))
        else { return [] }
        return (table.array ?? []).compactMap { json in json["file"]?.string.map { Row(file: $0, json: json) } }
    }()

    /// Those that are read, not refused.
    static let good = rows.filter { $0.error == nil }

    static func read(
        _ body: [UInt8], charset: String? = nil, options: [String: OptionValue] = [:]
    ) throws -> Page {
        let headers = ResponseHeaders(charset.map { [("Content-Type", "application/xml; charset=\($0)")] } ?? [])
        var page = PageBody(
            bytes: body, headers: headers, url: "https://news.example.org/blog/feed.xml", receivedAt: received)
        return try Fixture.kind("feed", options).read(&page)
    }
}
