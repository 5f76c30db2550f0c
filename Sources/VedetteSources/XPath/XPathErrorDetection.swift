// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// What a document says of itself: a server may answer 200 and write its error inside.
struct XPathErrorDetection: Sendable {
    private let required: [(path: XPath, values: [String])]
    private let errors: [XPath]

    init(_ reader: XPathOptions) throws(OptionProblem) {
        var required: [(path: XPath, values: [String])] = []
        for (text, values) in reader.options.lists("require") {
            required.append((try reader.path(text, ["require", text]), values))
        }
        self.required = required
        errors = try reader.paths("error")
    }

    /// Throws when the document says that the request failed. As in the `json` kind, the text of `error` is a failure by itself
    /// only where nothing is required.
    func judge(_ tree: DOMTree) throws(ReadError) {
        let complaint: String?
        do throws(DocumentError) {
            complaint = try self.complaint(tree)
        } catch {
            throw ReadError(error)
        }
        if let complaint { throw ReadError(.bodyStatus, complaint) }
    }

    private func complaint(_ tree: DOMTree) throws(DocumentError) -> String? {
        let said = try error(tree)
        let words = said.map { ": " + XPathErrorDetection.shortened($0) } ?? ""
        for (path, values) in required {
            let text = try tree.texts(path, at: tree.root).first
            if let text, values.contains(text) { continue }
            let found = text.map(XPathErrorDetection.shortened) ?? "absent"
            return "the document says \(path) is \(found), not \(values.joined(separator: " or "))\(words)"
        }
        return said != nil && required.isEmpty ? "the document is an error\(words)" : nil
    }

    private func error(_ tree: DOMTree) throws(DocumentError) -> String? {
        for path in errors {
            if let text = try tree.texts(path, at: tree.root).first(where: { !$0.isEmpty }) { return text }
        }
        return nil
    }

    private static func shortened(_ text: String) -> String { HTMLText.collapse(text, limit: 300) }
}
