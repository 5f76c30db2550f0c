// SPDX-License-Identifier: Apache-2.0
import VedetteDocument

func xmlTree(_ text: String, limits: DOMLimits = DOMLimits(), ignoring: [String] = []) throws -> DOMTree {
    try DOMReader(ignoring: ignoring.map { try XPath($0) }, limits: limits).xml(Array(text.utf8))
}

func htmlTree(_ text: String, limits: DOMLimits = DOMLimits(), ignoring: [String] = [], mustEnd: Bool = true) throws
    -> DOMTree
{
    try DOMReader(ignoring: ignoring.map { try XPath($0) }, limits: limits).html(Array(text.utf8), mustEnd: mustEnd)
}

extension DOMTree {
    /// What an expression yields at the document.
    func ask(_ path: String, _ namespaces: [(String, String)] = []) throws -> [String] {
        try texts(XPath(path, namespaces: XPathNamespaces(namespaces.map { (prefix: $0, uri: $1) })), at: root)
    }
}
