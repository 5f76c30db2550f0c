// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSources

/// What an entry of another program's list becomes.
struct ImportedEntry {
    /// How messages name the entry. It holds no credential.
    var label: String
    /// The line of the list that the entry begins at; nil where lines mean nothing to a person.
    var line: Int?
    /// Nil where Vedette has no equal.
    var source: ImportedSource?
    /// What was left out or differs, and the remedy: a sentence each.
    var notes: [String] = []
}

/// A source as another program's list describes it.
struct ImportedSource {
    /// What a source reads.
    enum Place: Hashable {
        case url(String)
        case command([String])
    }

    /// What a rule should tell.
    enum News: Hashable {
        /// Items that appear: entries of a feed.
        case arrivals
        /// Rows that appear, and with `removals` rows that disappear.
        case rows(removals: Bool)
        /// A field that changes.
        case field(String)
    }

    /// What its name is made from; empty where only the address tells.
    var title: String
    var kind: String
    var place: Place
    /// The credentials that its requests carry, in a server of its own.
    var login: ImportedLogin?
    var headers: [ImportedHeader] = []
    var options: [Proposal.Option] = []
    var news: News
    /// Whether the other program reports that the source cannot be read.
    var tellsFailures = false

    /// What makes it the same source as another one.
    var address: String {
        switch place {
        case .url(let url): url
        case .command(let arguments): CommandURL.text(arguments)
        }
    }

    /// Why no source can be written for it; nil where one can.
    var problem: String? {
        guard let login, case .url(let text) = place, let url = WebURL(text) else { return nil }
        if case .user(let user) = login, user.contains(":") {
            return "left out: its user holds ':', which no request can carry (RFC 7617)"
        }
        if url.path.hasPrefix("//") {
            return "left out: a source of a server with a password cannot have a path that begins with '//'"
        }
        return nil
    }

    mutating func set(_ name: String, _ value: Proposal.Value) {
        options.append(Proposal.Option(name: name, value: value))
    }
}

/// A request header.
struct ImportedHeader: Hashable {
    var name: String
    /// The value; nil for a secret, which the output does not repeat.
    var value: String?
}
