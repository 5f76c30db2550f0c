// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The file `urls` of newsboat: a feed and its tags on each line (https://newsboat.org/releases/2.36/docs/newsboat.html).
struct NewsboatURLs {
    private(set) var entries: [ImportedEntry] = []
    /// The number of feeds with tags other than a title.
    private(set) var taggedFeeds = 0

    init(_ text: String) {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() where line.first != "#" {
            let words = NewsboatURLs.words(of: line)
            guard let feed = words.first else { continue }
            let tags = words.dropFirst()
            var entry = NewsboatURLs.entry(feed, title: tags.last { $0.hasPrefix("~") }.map { String($0.dropFirst()) })
            entry.line = number + 1
            if entry.source != nil, tags.contains(where: { $0.hasPrefix("!") }) {
                entry.notes.append("left out that it is hidden: remove it from the rule if nothing is to be told of it")
            }
            if entry.source != nil, tags.contains(where: { !"~!".contains($0.first ?? "~") }) { taggedFeeds += 1 }
            entries.append(entry)
        }
    }

    /// What is said of all entries.
    var note: String? {
        guard taggedFeeds > 0 else { return nil }
        return "left out the tags of \(counted(taggedFeeds, "feed")): a rule names its sources in 'when: {source: […]}'"
    }

    private static func entry(_ feed: String, title: String?) -> ImportedEntry {
        func refused(_ label: String, _ reason: String) -> ImportedEntry {
            ImportedEntry(label: title ?? label, notes: ["left out: \(reason)"])
        }
        if let command = feed.after("exec:") {
            let program = command.split(separator: " ").first.map(String.init) ?? command
            let source = ImportedSource(
                title: title ?? program.split(separator: "/").last.map(String.init) ?? "", kind: "feed",
                place: .command(["sh", "-c", command]), news: .arrivals)
            return ImportedEntry(label: title ?? "exec:\(program)", source: source)
        }
        if let filter = feed.after("filter:") {
            let program = filter.prefix { $0 != " " && $0 != ":" }
            return refused(
                "filter:\(program)",
                "a source has no filter; read the output of a command instead: [sh, -c, 'curl -fsS URL | \(program)']")
        }
        if let query = feed.after("query:") {
            return refused(
                "query:\(query.prefix { $0 != ":" })", "it has no feed of its own; a rule with 'item' chooses entries")
        }
        let (address, login) = ImportedLogin.split(feed)
        let label = title ?? ImportedLogin.shown(feed)
        guard address.hasPrefix("file:///") || WebURL(address) != nil else {
            return refused(label, "it is no address of http, https or a file (file:///…)")
        }
        var source = ImportedSource(title: title ?? "", kind: "feed", place: .url(address), news: .arrivals)
        source.login = login
        return ImportedEntry(label: label, source: source)
    }

    /// Splits a line at blanks; quotes hold blanks together, and a backslash in them escapes.
    private static func words(of line: Substring) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        var characters = line.makeIterator()
        while let character = characters.next() {
            if isQuoted, character == "\\" {
                if let escaped = characters.next() { word?.append(escaped) }
            } else if character == "\"" {
                isQuoted.toggle()
                word = word ?? ""
            } else if !isQuoted, character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else if !isQuoted, word == nil, character == "#" {
                break
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap { $0 }
    }
}

extension String {
    /// Returns what stands behind a prefix; nil without it.
    fileprivate func after(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}
