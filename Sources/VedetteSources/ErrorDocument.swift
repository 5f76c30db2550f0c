// SPDX-License-Identifier: Apache-2.0

public import VedetteCore
import VedetteDocument

/// The document with which a server refuses a request.
public enum ErrorDocument {
    /// The form of a kind's own errors.
    enum Form {
        /// An object whose `message`, or the like, tells what is wrong: CloudBurst and most REST services.
        case json
        /// An `<error>` with a message: Connections, its `td:error`, Abdera, and OGC's exception reports.
        case xml
    }

    /// A longer body is no error document.
    private static let maximumBytes = 64 << 10

    /// Returns what the server says, in any form that is known here; nil for a body that is no error document.
    public static func text(of page: PageBody) -> String? { text(of: page, [.json, .xml]) }

    /// - Parameter forms: besides problem details (RFC 9457), which any server may send.
    static func text(of page: PageBody, _ forms: [Form]) -> String? {
        guard page.bytes.count <= maximumBytes else { return nil }
        if page.headers.mediaType == "application/problem+json" {
            return (try? JSON(parsing: page.bytes)).flatMap(problem)
        }
        let first = page.bytes.first { $0 > 0x20 }
        if forms.contains(.json), first == UInt8(ascii: "{") {
            return (try? JSON(parsing: page.bytes)).flatMap(message)
        }
        if forms.contains(.xml), first == UInt8(ascii: "<") || first == 0xEF { return XMLErrorHandler.text(of: page) }
        return nil
    }

    /// Problem details (RFC 9457 §3.1): the title is of the kind of problem, the detail of this one.
    private static func problem(_ json: JSON) -> String? {
        let texts = [json["title"], json["detail"]].compactMap { $0?.string }.filter { !$0.trimmed().isEmpty }
        guard texts.count == 2, texts[0] != texts[1] else { return texts.first }
        return texts.joined(separator: ": ")
    }

    /// The names under which services tell what is wrong, the most telling first.
    private static func message(_ json: JSON) -> String? {
        let error = json["error"]
        let first = json["errors"]?.array?.first
        let found = [
            error?["message"], json["message"], json["error_description"], first?["message"], first, json["detail"],
            json["errorMessage"], error, json["title"],
        ]
        return found.lazy.compactMap { $0?.string }.first { !$0.trimmed().isEmpty }
    }
}

/// Finds the message in an error document in XML. Names count without their namespace, since each product has its own.
private final class XMLErrorHandler: XMLHandler {
    private static let roots: Set<String> = ["error", "errors", "exceptionreport", "serviceexceptionreport"]
    /// The elements that hold words, the most telling first.
    private static let names = ["displaymessage", "message", "errormessage", "exceptiontext", "serviceexception"]
    private static let reader = XMLReader(XMLVocabulary())
    private static let maximumDepth = 4

    private var current: String?
    private var texts: [String: String] = [:]

    static func text(of page: PageBody) -> String? {
        let handler = XMLErrorHandler()
        guard (try? reader.read(page.bytes, charset: page.headers.charset, handler: handler)) != nil else { return nil }
        return names.lazy.compactMap { handler.texts[$0] }.first
    }

    func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction {
        let name = element.name.lowercased()
        if element.depth == 1 {
            guard XMLErrorHandler.roots.contains(name) else {
                throw DocumentError(.wrongShape, "the document is no error")
            }
            return .enter
        }
        guard XMLErrorHandler.names.contains(name) else {
            return element.depth < XMLErrorHandler.maximumDepth ? .enter : .skip
        }
        current = name
        return .text
    }

    func end(_ element: borrowing XMLEnd) throws(DocumentError) {
        guard let name = current else { return }
        current = nil
        let text = element.trimmed
        if !text.isEmpty, texts[name] == nil { texts[name] = text }
    }
}
