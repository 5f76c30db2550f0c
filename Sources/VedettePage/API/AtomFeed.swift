// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Renders events as an Atom feed (RFC 4287), the newest first. Older events are on further pages (RFC 5005 §3), so that a
/// reader that comes late misses none.
struct AtomFeed: Sendable {
    static let contentType = "application/atom+xml; charset=utf-8"
    /// Entries of one page.
    static let pageLength = 50
    /// Pages that are served.
    static let mostPages: Int64 = 100

    /// The path and query of the feed itself.
    var address: String
    /// Those of the next page; nil on the last one.
    var next: String?
    /// The newest first.
    var events: [Event]

    var text: String {
        let updated = events.first?.time ?? Timestamp(milliseconds: 0)
        var text = """
            <?xml version="1.0" encoding="utf-8"?>
            <feed xmlns="http://www.w3.org/2005/Atom">
            <id>urn:vedette:events</id>
            <title>Vedette</title>
            <updated>\(updated.rfc3339)</updated>
            <author><name>Vedette</name></author>
            <link rel="self" href="\(XMLEscape.text(address))"/>

            """
        if let next { text += "<link rel=\"next\" href=\"\(XMLEscape.text(next))\"/>\n" }
        for event in events { text += AtomFeed.entry(event) }
        return text + "</feed>\n"
    }

    private static func entry(_ event: Event) -> String {
        let title = XMLEscape.text(MessageTitle.of(event))
        let content = XMLEscape.text(MessageText.of(event))
        // Only such a link is safe to follow in every reader.
        let url = event.item?.url.flatMap { WebURL($0) == nil ? nil : $0 }
        let link = url.map { "<link href=\"\(XMLEscape.text($0))\"/>\n" } ?? ""
        return """
            <entry>
            <id>urn:uuid:\(XMLEscape.text(event.id.description))</id>
            <title>\(title)</title>
            <updated>\(event.time.rfc3339)</updated>
            <published>\(event.time.rfc3339)</published>
            <author><name>\(XMLEscape.text(event.source))</name></author>
            <category term="\(event.kind == .unknown ? event.type : event.kind.word)"/>
            \(link)<content type="text">\(content)</content>
            </entry>

            """
    }
}
