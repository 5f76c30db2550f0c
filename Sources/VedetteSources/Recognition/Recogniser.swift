// SPDX-License-Identifier: Apache-2.0

public import VedetteCore
import VedetteDocument

/// Guesses what a resource is and how it could be watched, from one answer. The first proposal is the likeliest; a caller
/// tries each on the same bytes and takes the first that can be read.
public enum Recogniser {
    /// - Parameter url: the address of the answer, after redirects.
    public static func proposals(url: String, headers: ResponseHeaders, body: [UInt8]) -> [Proposal] {
        var found: [Proposal] = []
        switch start(of: body) {
        case UInt8(ascii: "{"), UInt8(ascii: "["): found = json(body, url: url, headers: headers)
        case UInt8(ascii: "<"): found = markup(body, url: url, headers: headers)
        default: break
        }
        return found + [response(body)]
    }

    /// The first byte that says something.
    private static func start(of body: [UInt8]) -> UInt8? {
        let bare = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        // UTF-16 has a zero beside each ASCII character.
        let unmarked = bare.starts(with: [0xFF, 0xFE]) || bare.starts(with: [0xFE, 0xFF]) ? bare.dropFirst(2) : bare
        return unmarked.first { $0 > 32 }
    }

    /// What can be said of any answer.
    private static func response(_ body: [UInt8]) -> Proposal {
        var proposal = Proposal(
            "http", .state, because: body.isEmpty ? "an empty answer" : "an answer of no known form")
        proposal.remarks.append("It says whether the server answers, and how.")
        return proposal
    }

    private static func json(_ body: [UInt8], url: String, headers: ResponseHeaders) -> [Proposal] {
        let bare = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        guard let root = try? JSON(parsing: bare) else { return [] }
        if root["version"]?.string?.contains("jsonfeed.org/version") == true {
            return [Proposal("feed", .arrivals, because: "a JSON Feed")]
        }
        let guess = JSONGuess(root: root, url: url, hasNextLink: LinkHeader.next(headers) != nil)
        return guess.proposals
    }

    private static func markup(_ body: [UInt8], url: String, headers: ResponseHeaders) -> [Proposal] {
        var page: [Proposal] { [HTMLGuess.proposal(body, url: url, charset: headers.charset)] }
        if headers.mediaType == "text/html" { return page }
        do throws(DocumentError) {
            return XMLGuess(try DOMReader().xml(body, charset: headers.charset)).proposals
        } catch {
            if error.kind == .wrongType { return page }
            // What is too ill for a tree may still be healed as a feed.
            return error.kind == .syntax ? [Proposal("feed", .arrivals, because: "something like a feed")] : []
        }
    }
}
