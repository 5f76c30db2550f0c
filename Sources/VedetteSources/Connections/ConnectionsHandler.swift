// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Makes items from the entries of a Connections feed. Only the direct children of an entry and of its author count:
/// `activity:object` has an id and a title of its own.
final class ConnectionsHandler: XMLHandler {
    private enum Name: UInt16, CaseIterable {
        case feed = 1, error, code, message
        case entry, id, title, updated, published, author, name, category, link, content, summary
        case userid
        case rel, type, href, scheme, term

        var token: XMLToken { XMLToken(rawValue: rawValue) }

        var namespace: String {
            switch self {
            case .error, .code, .message, .userid: ConnectionsHandler.network
            case .rel, .href, .scheme, .term, .type: ""
            default: "http://www.w3.org/2005/Atom"
            }
        }
    }

    private static let network = "http://www.ibm.com/xmlns/prod/sn"

    static let reader: XMLReader = {
        var vocabulary = XMLVocabulary()
        for name in Name.allCases { vocabulary.add("\(name)", in: [name.namespace], as: name.token) }
        return XMLReader(vocabulary)
    }()

    private var links: FeedLinkResolver
    private(set) var items: [Item] = []
    private var nextPage: FeedLinkResolver.PageLink?
    /// The feed has links to other pages: then a missing `next` means that this is the last.
    private(set) var hasPages = false

    private var entry: ConnectionsEntry?
    private var isError = false
    /// The root is one entry (RFC 4287 §2), whose elements stand one level higher than in a feed.
    private var isEntry = false
    private var message = ""

    init(url: WebURL?) { links = FeedLinkResolver(url: url) }

    var next: WebURL? { nextPage?.target.flatMap { WebURL($0) } }

    func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction {
        guard let name = Name(rawValue: element.token.rawValue) else {
            if element.depth == 1 { throw unknownRoot(element.name) }
            return .skip
        }
        if element.depth == 1 { return try root(name, element.name) }
        switch element.depth + (isEntry ? 1 : 0) {
        case 2: return inFeed(name, element)
        case 3 where entry != nil: return inEntry(name, element)
        case 4 where name == .name || name == .userid: return .text
        default: return .skip
        }
    }

    private func root(_ name: Name, _ text: String) throws(DocumentError) -> XMLAction {
        (isError, isEntry) = (name == .error, name == .entry)
        if isEntry { entry = ConnectionsEntry() }
        guard isError || isEntry || name == .feed else { throw unknownRoot(text) }
        return .enter
    }

    private func unknownRoot(_ name: String) -> DocumentError {
        DocumentError(.wrongShape, "the root element is <\(name)>, but updates come as an Atom <feed>")
    }

    private func inFeed(_ name: Name, _ element: borrowing XMLElement) -> XMLAction {
        switch name {
        case .message where isError: return .text
        case .entry where !isError:
            entry = ConnectionsEntry()
            return .enter
        case .link:
            page(element)
            return .skip
        default: return .skip
        }
    }

    private func page(_ element: borrowing XMLElement) {
        guard let relation = element.attribute(Name.rel.token),
            ["next", "previous", "first", "last"].contains(relation)
        else { return }
        hasPages = true
        if relation == "next" { nextPage = links.page(element, at: Name.href.token) ?? nextPage }
    }

    private func inEntry(_ name: Name, _ element: borrowing XMLElement) -> XMLAction {
        switch name {
        case .id, .updated, .published: return .text
        case .author: return .enter
        case .title, .content, .summary:
            entry?.textType = element.attribute(Name.type.token)
            return entry?.textType == "xhtml" ? .markup : .text
        case .category:
            if let term = element.attribute(Name.term.token) {
                entry?.add(term: term, scheme: element.attribute(Name.scheme.token))
            }
            return .skip
        case .link:
            link(element)
            return .skip
        default: return .skip
        }
    }

    private func link(_ element: borrowing XMLElement) {
        // The address of a link in a file or from a command stays relative.
        guard let reference = element.attribute(Name.href.token), let target = links.resolve(reference, element) else {
            return
        }
        entry?.add(
            link: target, relation: element.attribute(Name.rel.token) ?? "alternate",
            type: element.attribute(Name.type.token))
    }

    func end(_ element: borrowing XMLEnd) throws(DocumentError) {
        guard let name = Name(rawValue: element.token.rawValue) else { return }
        switch element.depth + (isEntry ? 1 : 0) {
        case 1 where isError: throw refusal()
        case 2 where name == .message: message = HTMLText.collapse(element.string, limit: 300)
        case 2 where name == .entry: try finish()
        default: entry?.set("\(name)", element.string)
        }
    }

    private func refusal() -> DocumentError {
        DocumentError(.wrongShape, "the server answered with an error" + (message.isEmpty ? "" : ": " + message))
    }

    private func finish() throws(DocumentError) {
        guard let finished = entry else { return }
        entry = nil
        guard let item = finished.item else {
            throw DocumentError(.wrongShape, "entry number \(items.count + 1) has neither an id nor a link")
        }
        items.append(item)
    }
}
