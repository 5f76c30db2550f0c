// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// An entry of a feed while it is read, for all formats.
struct FeedEntry {
    /// The element that a text of an entry comes from, the best first.
    enum Body: Int {
        case content, summary, description, subtitle
    }

    /// The element that a title comes from, the best first.
    enum Title: Int {
        case own, dublinCore, media, itunes
    }

    /// The element that a time comes from, the best first: the format's own, and its substitutes.
    enum Time: Int {
        case own, substitute, lastResort
    }

    /// The `guid`, `id` or their substitute.
    var id: String?
    /// The `rdf:about` of RSS 1.0; a `guid` beside it takes precedence.
    var about: String?
    private(set) var title: String?
    private var titleSource: Title?
    /// The alternate link to an HTML page, then to anything, absolute where it can be.
    var page: String?
    var link: String?
    var enclosure: String?
    private(set) var updated: Timestamp?
    private(set) var published: Timestamp?
    private var updatedSource: Time?
    private var publishedSource: Time?
    var authors: [String] = []
    var categories: [String] = []
    private(set) var content: String?
    private var source: Body?

    /// True when a text from this element is better than the present one.
    func wants(_ source: Body) -> Bool { self.source.map { source.rawValue < $0.rawValue } ?? true }

    mutating func offer(_ text: String, _ source: Body) {
        guard wants(source), !text.isEmpty else { return }
        (content, self.source) = (text, source)
    }

    /// Takes a time unless a better element has given one. Of equal ones the last counts.
    mutating func offer(updated: Timestamp, _ source: Time) {
        guard updatedSource.map({ source.rawValue <= $0.rawValue }) ?? true else { return }
        (self.updated, updatedSource) = (updated, source)
    }

    mutating func offer(published: Timestamp, _ source: Time) {
        guard publishedSource.map({ source.rawValue <= $0.rawValue }) ?? true else { return }
        (self.published, publishedSource) = (published, source)
    }

    /// Takes a title unless a better element has given one. Of equal ones the last counts, as other readers have it.
    mutating func offer(title: String, _ source: Title) {
        guard !title.isEmpty, titleSource.map({ source.rawValue <= $0.rawValue }) ?? true else { return }
        (self.title, titleSource) = (title, source)
    }

    mutating func addAuthor(_ name: String) {
        let name = FeedEntry.nameOnly(name)
        FeedEntry.add(name, to: &authors)
    }

    mutating func addCategory(_ name: String) {
        FeedEntry.add(name, to: &categories)
    }

    /// Adds a name that is not there yet, up to 100.
    static func add(_ name: String, to names: inout [String]) {
        if !name.isEmpty, names.count < 100, !names.contains(name) { names.append(name) }
    }

    /// Returns `Ada` of `ada@example.org (Ada)`, the form of RSS 2.0.
    static func nameOnly(_ author: String) -> String {
        guard author.hasSuffix(")"), let open = author.firstIndex(of: "("), author[..<open].contains("@") else {
            return author
        }
        let name = String(author[author.index(after: open)...].dropLast()).trimmed()
        return name.isEmpty ? author : name
    }
}

/// Checks and normalises the addresses of a feed.
enum FeedLink {
    /// True for an absolute http or https address that needs no resolving: most links, by far.
    static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count > 8, bytes.starts(with: "http".utf8) else { return false }
        let start = bytes[4] == UInt8(ascii: "s") ? 8 : 7
        guard bytes[4..<start].elementsEqual(start == 8 ? "s://".utf8 : "://".utf8) else { return false }
        if [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":")].contains(bytes[start]) {
            return false
        }
        var isHost = true
        for byte in bytes[start...] {
            if byte <= 0x20 || byte == 0x7F || (isHost && byte == UInt8(ascii: "@")) { return false }
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { isHost = false }
        }
        return true
    }

    static func isPlain(text: String) -> Bool {
        var text = text
        return text.withUTF8 { isPlain($0) }
    }

    /// Removes line breaks inside an address and encodes spaces, as browsers do (https://url.spec.whatwg.org/#url-parsing).
    static func cleaned(_ text: String) -> String {
        var out = ""
        for scalar in text.trimmed().unicodeScalars {
            switch scalar {
            case "\t", "\n", "\r": continue
            case " ": out += "%20"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// Returns an address as a key, without tracking and session parameters, which change from poll to poll.
    static func key(_ address: String) -> String {
        guard address.hasPrefix("http"), address.utf8.contains(where: { $0 == 0x3F || $0 == 0x23 || $0 == 0x3B }) else {
            return address
        }
        var parts = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, isTracking(Substring(parts[1])) { parts.removeLast() }
        let halves = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var page = String(halves[0])
        if let session = page.lowercased().firstRange(of: ";jsessionid=") {
            page = String(page.prefix(page.lowercased().distance(from: page.startIndex, to: session.lowerBound)))
        }
        if halves.count == 2 {
            let kept = halves[1].split(separator: "&", omittingEmptySubsequences: false).filter { !isTracking($0) }
            if !kept.isEmpty { page += "?" + kept.joined(separator: "&") }
        }
        return parts.count == 2 ? page + "#" + parts[1] : page
    }

    private static func isTracking(_ parameter: Substring) -> Bool {
        let name = parameter.prefix { $0 != "=" }.lowercased()
        return name.hasPrefix("utm_") || tracking.contains(name)
    }

    private static let tracking: Set<String> = [
        "fbclid", "gclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid", "_hsenc", "_hsmi", "xtor",
        "at_medium", "at_campaign", "wt_mc", "wt.mc_id", "cmpid", "ncid", "ocid", "phpsessid", "jsessionid",
    ]
}
