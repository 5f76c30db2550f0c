// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The options of the `connections` kind, and the checks of their texts.
enum ConnectionsOptions {
    static let specs: [OptionSpec] = [
        OptionSpec(
            "updates", .choice(ConnectionsResource.allCases.map(\.rawValue)),
            "Whose updates: everybody's (`public`), one person's, status updates, your own views, or a search. The stream alone "
                + "has `responses` to what is yours, `actions` that are asked of you, and `mentions` of you.",
            default: "public"),
        OptionSpec(
            "format", .choice(["atom", "json"]),
            "`atom`: the Updates API; `json`: the activity stream of Connections 4 and later.",
            default: "`atom`; `json` where the stream alone has the view"),
        OptionSpec(
            "source", .text,
            "Updates of one application: activities, blogs, bookmarks, communities, files, forums, profiles or wikis; of "
                + "status updates also all, following, network or organization."),
        OptionSpec(
            "container", .text,
            "The id of one blog, community, wiki … in the application that `source` names; of the stream's `community` the id of "
                + "the one community to read."),
        OptionSpec("userid", .text, "Updates of the person with this id; it wins over `email`."),
        OptionSpec("email", .text, "Updates of the person with this address, where the site shows addresses."),
        OptionSpec("before", .text, "Only what was last changed before this date."),
        OptionSpec("since", .text, "Only what was last changed after this date."),
        OptionSpec("lang", .text, "The language of the server's own words, as `en_IE` or `en-ie`."),
        OptionSpec("page", .integer(1...1_000_000), "The page that a reading begins with.", default: "1"),
        OptionSpec("page_size", .integer(1...100), "Entries of one page.", default: "100"),
        OptionSpec("comments", .choice(["all", "none"]), "Whether status updates come with their comments."),
        OptionSpec("query", .text, "Words to search for, with `updates: search` or `format: json`."),
        OptionSpec("tag", .text, "A tag to search for, with `updates: search`."),
        OptionSpec(
            "incremental", .flag, "Ask only for what changed since the newest entry seen, less the margin.",
            default: "true"),
        OptionSpec("margin", .duration, "How much earlier than the newest entry `since` is set.", default: "10m"),
        OptionSpec("parameters", .map(.text), "Further parameters of the request, passed on as they are."),
    ]

    /// Returns the time of an option: RFC 3339, as RFC 4287 §3.3 has it, or a plain date, which means midnight in UTC.
    static func date(_ name: String, _ options: Options) throws(OptionProblem) -> Timestamp? {
        guard let text = options.text(name) else { return nil }
        if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") { return time }
        throw OptionProblem(
            name, detail: "'\(text)' is not a date; write it as in 2008-02-07T21:07:56Z or 2008-02-07")
    }

    /// Returns the language in Java's form `en_IE` or Dojo's `en-ie`, with the case that each has on the wire.
    static func language(_ options: Options) throws(OptionProblem) -> String? {
        guard let text = options.text("lang") else { return nil }
        let parts = text.split(omittingEmptySubsequences: false) { "_-".contains($0) }.map { $0.lowercased() }
        let isWord = parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isLetter } }
        guard isWord, parts.count <= 2, (2...3).contains(parts[0].count), parts.count == 1 || parts[1].count == 2 else {
            throw OptionProblem("lang", detail: "'\(text)' is not a language; write it as en_IE or en-ie")
        }
        guard parts.count == 2 else { return parts[0] }
        return text.contains("_") ? "\(parts[0])_\(parts[1].uppercased())" : "\(parts[0])-\(parts[1])"
    }

    /// Returns the id of a community as its page's address has it, of that or of the id in the stream's own form.
    static func community(_ options: Options) throws(OptionProblem) -> String? {
        guard let text = try text("container", options) else { return nil }
        let id = text.split(separator: ":").last.map(String.init) ?? text
        let isURN = text.hasPrefix("urn:lsid:") && text.hasSuffix("communities.community:\(id)")
        guard isURN || id == text, id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
            throw OptionProblem(
                "container",
                detail:
                    "'\(text)' is not the id of a community; write what follows communityUuid= in the address of its "
                    + "page")
        }
        return id
    }

    static func email(_ options: Options) throws(OptionProblem) -> String? {
        guard let text = options.text("email") else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), !text.contains(where: \.isWhitespace) else {
            throw OptionProblem("email", detail: "'\(text)' is not an e-mail address")
        }
        return text
    }

    /// Returns the text of an option, which must not be blank: an empty parameter asks for everything.
    static func text(_ name: String, _ options: Options) throws(OptionProblem) -> String? {
        guard let text = options.text(name) else { return nil }
        guard !text.trimmed().isEmpty else {
            throw OptionProblem(name, detail: "'\(name)' is empty; write its value or remove it")
        }
        return text
    }
}
