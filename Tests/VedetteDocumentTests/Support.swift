// SPDX-License-Identifier: Apache-2.0
import Foundation
import VedetteDocument

enum Fixture {
    static func bytes(_ name: String) throws -> [UInt8] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return Array(try Data(contentsOf: tests.appending(path: "Fixtures/\(name)")))
    }
}

func paths(_ texts: String...) -> [JSONPath] {
    texts.map { JSONPath(steps: $0.split(separator: ".").map(String.init)) }
}

/// The rows of a document as cells.
func rows(
    _ text: String, items: JSONPath? = nil, columns: [JSONPath], limits: JSONLimits = JSONLimits()
) throws -> [[JSONCell]] {
    try rows(Array(text.utf8), JSONReader(items: items, columns: columns, limits: limits))
}

func rows(_ bytes: [UInt8], _ reader: JSONReader) throws -> [[JSONCell]] {
    var body = bytes
    var rows: [[JSONCell]] = []
    _ = try reader.read(&body) { row in
        var cells: [JSONCell] = []
        for column in 0..<row.count { cells.append(row[column]) }
        rows.append(cells)
    }
    return rows
}

/// The class of the error that a reading ends with.
func failure(_ work: () throws -> Void) -> DocumentError.Kind? {
    do {
        try work()
        return nil
    } catch {
        return (error as? DocumentError)?.kind
    }
}

extension XMLToken {
    static let feed = XMLToken(rawValue: 1)
    static let entry = XMLToken(rawValue: 2)
    static let title = XMLToken(rawValue: 3)
    static let id = XMLToken(rawValue: 4)
    static let link = XMLToken(rawValue: 5)
    static let content = XMLToken(rawValue: 6)
    static let date = XMLToken(rawValue: 7)
    static let href = XMLToken(rawValue: 8)
    static let type = XMLToken(rawValue: 9)
}

/// Writes down what it is told, as an Atom reader would ask for it.
final class Recorder: XMLHandler {
    static let vocabulary: XMLVocabulary = {
        let atom = ["http://www.w3.org/2005/Atom", ""]
        var vocabulary = XMLVocabulary()
        vocabulary.add("feed", in: atom, as: .feed)
        vocabulary.add("entry", in: atom, as: .entry)
        vocabulary.add("title", in: atom, as: .title)
        vocabulary.add("id", in: atom, as: .id)
        vocabulary.add("link", in: atom, as: .link)
        vocabulary.add("content", in: atom, as: .content)
        vocabulary.add("date", in: ["http://purl.org/dc/elements/1.1/"], as: .date)
        vocabulary.add("href", in: [""], as: .href)
        vocabulary.add("type", in: [""], as: .type)
        return vocabulary
    }()

    var titles: [String] = []
    var ids: [String] = []
    var links: [String] = []
    var contents: [String] = []
    var dates: [String] = []
    var bases: [[String]] = []
    var languages: [String?] = []
    var unknown: [String] = []
    var entries = 0

    func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction {
        switch element.token {
        case .feed, .entry: return .enter
        case .title, .id, .date: return .text
        case .content:
            bases.append(element.bases)
            languages.append(element.language)
            return element.attribute(.type) == "xhtml" ? .markup : .text
        case .link:
            if let href = element.attribute(.href) { links.append(href) }
            return .skip
        default:
            if element.depth == 1, element.name == "rss" {
                throw DocumentError(.wrongShape, "the root is \(element.name)")
            }
            unknown.append("{\(element.namespace ?? "")}\(element.name)")
            return .skip
        }
    }

    func end(_ element: borrowing XMLEnd) throws(DocumentError) {
        switch element.token {
        case .entry: entries += 1
        case .title: titles.append(element.string)
        case .id: ids.append(element.trimmed)
        case .date: dates.append(element.trimmed)
        case .content: contents.append(element.string)
        default: break
        }
    }
}

struct XMLOutcome {
    let recorder: Recorder
    let warnings: [DocumentWarning]
}

func xml(_ text: String, charset: String? = nil, limits: XMLLimits = XMLLimits()) throws -> XMLOutcome {
    try xml(Array(text.utf8), charset: charset, limits: limits)
}

func xml(_ bytes: [UInt8], charset: String? = nil, limits: XMLLimits = XMLLimits()) throws -> XMLOutcome {
    let recorder = Recorder()
    let warnings = try XMLReader(Recorder.vocabulary, limits: limits).read(bytes, charset: charset, handler: recorder)
    return XMLOutcome(recorder: recorder, warnings: warnings)
}
