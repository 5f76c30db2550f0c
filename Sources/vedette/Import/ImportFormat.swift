// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteCore

/// The list of another program that `import` reads.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
    /// Feeds, as feed readers exchange them.
    case opml
    /// The file `urls` of newsboat.
    case newsboat
    /// The file `urls.yaml` of urlwatch.
    case urlwatch
    /// The file `jobs.yaml` of webchanges, which is a newer urlwatch.
    case webchanges

    /// Recognises a list by its content; nil where it may be none, or two of them.
    static func of(_ text: String) -> ImportFormat? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmed() }
        let content = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        if content.first?.hasPrefix("<") == true { return .opml }
        let isJobs = content.contains { line in
            ["url:", "navigate:", "command:"].contains { line.hasPrefix($0) || line.hasPrefix("\"\($0.dropLast())\":") }
        }
        let isFeeds = content.contains { line in
            let start = line.drop { $0 == "\"" }
            // A job has a key of that name, behind which a space or nothing stands.
            let isFilter = start.hasPrefix("filter:") && !start.dropFirst(7).isEmpty && !start.hasPrefix("filter: ")
            return isFilter || ["http://", "https://", "file://", "exec:", "query:"].contains { start.hasPrefix($0) }
        }
        if isJobs == isFeeds { return nil }
        return isJobs ? .urlwatch : .newsboat
    }
}

/// The entries of another program's list.
struct ImportList {
    var entries: [ImportedEntry]
    /// What is said of all entries together.
    var note: String?

    /// - Parameter format: nil to recognise it.
    /// - Throws: `Exit` where it is not recognised, or not that format.
    init(_ bytes: [UInt8], name: String, format: ImportFormat?) throws {
        let text = String(
            decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
        guard let format = format ?? ImportFormat.of(text) else {
            throw Exit(.data, "\(name) is no list that is recognised; name its format with --format")
        }
        switch format {
        case .opml: entries = try OPML(bytes, name: name).feeds.map(ImportList.entry)
        case .newsboat:
            let urls = NewsboatURLs(text)
            (entries, note) = (urls.entries, urls.note)
        case .urlwatch, .webchanges: entries = try JobList(text, name: name).entries
        }
    }

    private static func entry(_ feed: OPML.Feed) -> ImportedEntry {
        let (address, login) = ImportedLogin.split(feed.url)
        guard WebURL(address) != nil else {
            return ImportedEntry(
                label: ImportedLogin.shown(feed.url), notes: ["left out: it is no address of http or https"])
        }
        // A list without titles has the address in their place, and that may hold a password.
        let title = feed.title == feed.url ? "" : feed.title
        var source = ImportedSource(title: title, kind: "feed", place: .url(address), news: .arrivals)
        source.login = login
        return ImportedEntry(label: title.isEmpty ? ImportedLogin.shown(feed.url) : title, source: source)
    }
}
