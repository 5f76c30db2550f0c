// SPDX-License-Identifier: Apache-2.0

public import VedetteCore
import VedetteDocument

/// Proposes ways to watch a resource, from one response. The first proposal is the likeliest; a caller tries each on the same
/// bytes and takes the first whose kind reads them.
public enum Recogniser {
    /// - Parameters:
    ///   - url: the address of the response, after redirects.
    ///   - later: the body of a later response, by which keys that change are found out; nil for none.
    public static func proposals(
        url: String, headers: ResponseHeaders, body: [UInt8], later: [UInt8]? = nil
    ) -> [Proposal] {
        var found: [Proposal] = []
        switch start(of: body) {
        case UInt8(ascii: "{"), UInt8(ascii: "["): found = json(body, url: url, headers: headers, later: later)
        case UInt8(ascii: "<"): found = markup(body, url: url, headers: headers)
        case UInt8(ascii: "B") where String(decoding: body.prefix(100), as: UTF8.self).contains("BEGIN:VCALENDAR"):
            found = [Proposal("calendar", .presence, because: "a calendar in iCalendar")]
        default:
            if let json = JSONWrapping.unwrapped(body) {
                found = self.json(json, url: url, headers: headers, later: later)
            } else if let json = JSONWrapping.inCall(body) {
                found = self.json(json, url: url, headers: headers, later: later.flatMap(JSONWrapping.inCall))
                for index in found.indices where found[index].kind == "json" {
                    found[index].options.append(Proposal.Option(name: "jsonp", value: .flag(true)))
                }
            }
        }
        let type = headers.mediaType ?? "text/plain"
        if found.isEmpty, start(of: body) != UInt8(ascii: "<"),
            type.hasPrefix("text/") || ["octet-stream", "/csv", "ms-excel"].contains(where: type.hasSuffix)
        {
            found = TextRecogniser(body, charset: headers.charset).proposals
        }
        return found.last?.kind == "http" ? found : found + [response(body, isKnown: !found.isEmpty)]
    }

    /// Returns the first byte that is neither byte order mark nor white space.
    private static func start(of body: [UInt8]) -> UInt8? {
        let bare = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        // UTF-16 has a zero beside each ASCII character.
        let unmarked = bare.starts(with: [0xFF, 0xFE]) || bare.starts(with: [0xFE, 0xFF]) ? bare.dropFirst(2) : bare
        return unmarked.first { $0 > 32 }
    }

    /// Proposes to watch the response itself, which is always possible.
    private static func response(_ body: [UInt8], isKnown: Bool) -> Proposal {
        let isJSON =
            !isKnown && [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(start(of: body))
            && (try? JSON(parsing: body[...])) != nil
        let reason =
            body.isEmpty
            ? "an empty response" : isJSON ? "JSON without items that are recognised" : "a response of no known format"
        var proposal = Proposal("http", .state, because: reason)
        proposal.remarks.append("It shows whether the server responds, and how.")
        return proposal
    }

    private static func json(
        _ body: [UInt8], url: String, headers: ResponseHeaders, later: [UInt8]?
    ) -> [Proposal] {
        let bare = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        let lines = { JSONWrapping.unwrapped(body).flatMap { try? JSON(parsing: $0) } }
        guard let root = (try? JSON(parsing: bare)) ?? lines() else { return [] }
        if root["version"]?.string?.contains("jsonfeed.org/version") == true {
            return [Proposal("feed", .arrivals, because: "a JSON Feed")]
        }
        let later = later.flatMap { try? JSON(parsing: $0[...]) }
        let recogniser = JSONRecogniser(root: root, url: url, hasNextLink: headers.nextLink != nil, later: later)
        return recogniser.proposals
    }

    private static func markup(_ body: [UInt8], url: String, headers: ResponseHeaders) -> [Proposal] {
        var page: [Proposal] { HTMLRecogniser.proposals(body, url: url, charset: headers.charset) }
        if headers.mediaType == "text/html" { return page }
        do throws(DocumentError) {
            return XMLRecogniser(try DOMReader().xml(body, charset: headers.charset)).proposals
        } catch {
            if error.kind == .wrongType { return page }
            // A document that is too broken for a tree may still be mended as a feed.
            return error.kind == .syntax ? [Proposal("feed", .arrivals, because: "something like a feed")] : []
        }
    }
}
