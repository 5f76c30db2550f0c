// SPDX-License-Identifier: Apache-2.0

import VedetteDocument

/// The elements and attributes that feeds are read by.
enum FeedName: UInt16, CaseIterable {
    case feed = 1, rss, rdf, error
    case channel, entry, item
    case id, guid, title, link, author, person, name, email, category, subject
    case updated, published, pubDate, date, modified, issued, created
    case content, summary, description, encoded, body, subtitle
    case dublinTitle, dublinDescription, creator
    case enclosure, group, mediaTitle, mediaDescription, mediaContent, mediaCredit
    case itunesTitle, itunesSummary, itunesAuthor
    case ttl, skipHours, hour, skipDays, day, updatePeriod, updateFrequency, complete
    // Attributes
    case rel, href, type, mode, src, term, isPermaLink, url, about

    var token: XMLToken { XMLToken(rawValue: rawValue) }

    static let vocabulary: XMLVocabulary = {
        var vocabulary = XMLVocabulary()
        for name in allCases {
            let (locals, namespaces) = name.spelling
            for local in locals { vocabulary.add(local, in: namespaces, as: name.token) }
        }
        for (prefix, namespace) in FeedNamespaces.usual { vocabulary.assume(prefix, means: namespace) }
        return vocabulary
    }()

    /// The local names and namespaces of an element or attribute.
    private var spelling: ([String], [String]) {
        typealias Spaces = FeedNamespaces
        return switch self {
        case .feed, .entry, .id, .summary, .published: (["\(self)"], Spaces.atom)
        case .rss: (["rss", "RSS"], Spaces.rss + Spaces.realAtom)
        case .rdf: (["RDF"], Spaces.rdf)
        case .error: (["error"], ["http://www.ibm.com/xmlns/prod/sn"])
        case .channel, .item, .guid, .ttl, .skipHours, .hour, .skipDays, .day, .description, .enclosure:
            (["\(self)"], Spaces.rss + Spaces.realAtom)
        case .pubDate: (["pubDate", "pubdate", "PubDate"], Spaces.rss + Spaces.realAtom)
        case .title, .link, .category: (["\(self)"], Spaces.atom + Spaces.rss)
        case .author: (["author"], Spaces.rss)
        case .person: (["author"], Spaces.realAtom)
        case .name, .email: (["\(self)"], Spaces.atom)
        case .content: (["content"], Spaces.atom)
        case .updated: (["updated"], Spaces.atom)
        case .modified, .created, .issued: (["\(self)"], Spaces.atom + Spaces.dublinCore + Spaces.terms)
        case .date, .subject: (["\(self)"], Spaces.dublinCore + Spaces.terms)
        case .creator: (["creator", "author"], Spaces.dublinCore + Spaces.terms)
        case .dublinTitle: (["title"], Spaces.dublinCore + Spaces.terms)
        case .dublinDescription: (["description", "abstract"], Spaces.dublinCore + Spaces.terms)
        case .encoded: (["encoded"], Spaces.content)
        case .body: (["body"], ["http://www.w3.org/1999/xhtml"])
        case .subtitle: (["subtitle"], Spaces.itunes)
        case .itunesTitle: (["title"], Spaces.itunes)
        case .itunesSummary: (["summary"], Spaces.itunes)
        case .itunesAuthor: (["author"], Spaces.itunes)
        case .group: (["group"], Spaces.media)
        case .mediaTitle: (["title"], Spaces.media)
        case .mediaDescription: (["description"], Spaces.media)
        case .mediaContent: (["content"], Spaces.media)
        case .mediaCredit: (["credit"], Spaces.media)
        case .updatePeriod, .updateFrequency: (["\(self)"], Spaces.syndication)
        case .complete: (["complete"], Spaces.history)
        case .about: (["about"], Spaces.rdf)
        case .rel, .href, .type, .mode, .src, .term, .isPermaLink, .url:
            // A prefix of Atom's own namespace on an attribute is a mistake with one meaning.
            (["\(self)"], Spaces.atom)
        }
    }
}

/// The namespaces of formats and modules, with the misspellings that feeds contain.
enum FeedNamespaces {
    static let realAtom = [
        "http://www.w3.org/2005/Atom", "http://www.w3.org/2005/Atom/", "https://www.w3.org/2005/Atom",
        "http://www.w3.org/2005/atom", atom03,
    ]
    static let atom03 = "http://purl.org/atom/ns#"
    /// Feeds whose authors forget Atom's namespace are in none.
    static let atom = realAtom + [""]
    static let rss = [
        "", "http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/",
        "http://channel.netscape.com/rdf/simple/0.9/", "http://backend.userland.com/rss",
        "http://backend.userland.com/rss2", "http://backend.userland.com/RSS2",
        "http://blogs.law.harvard.edu/tech/rss", "http://cyber.law.harvard.edu/rss",
        "http://purl.org/rss/1.0/modules/rss091#",
    ]
    static let rdf = ["http://www.w3.org/1999/02/22-rdf-syntax-ns#"]
    static let dublinCore = ["http://purl.org/dc/elements/1.1/", "http://purl.org/dc/elements/1.0/"]
    static let terms = ["http://purl.org/dc/terms/"]
    static let content = ["http://purl.org/rss/1.0/modules/content/"]
    static let syndication = ["http://purl.org/rss/1.0/modules/syndication/"]
    static let media = ["http://search.yahoo.com/mrss/", "http://search.yahoo.com/mrss"]
    static let itunes = ["http://www.itunes.com/dtds/podcast-1.0.dtd", "http://www.itunes.com/DTDs/Podcast-1.0.dtd"]
    static let history = ["http://purl.org/syndication/history/1.0"]

    /// The meaning of prefixes that a feed does not declare.
    static let usual = [
        ("atom", realAtom[0]), ("dc", dublinCore[0]), ("dcterms", terms[0]), ("content", content[0]),
        ("sy", syndication[0]), ("media", media[0]), ("itunes", itunes[0]), ("fh", history[0]), ("rdf", rdf[0]),
    ]
}
