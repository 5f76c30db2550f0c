// SPDX-License-Identifier: Apache-2.0
import CXML2

/// The prefixes that expressions may use, each for a namespace. A document's own prefixes mean nothing to an expression.
public struct XPathNamespaces: Sendable, Hashable {
    let pairs: [String: String]

    public static let none = XPathNamespaces(pairs: [:])

    private init(pairs: [String: String]) { self.pairs = pairs }

    /// - Parameter pairs: prefix and namespace URI; the first pair that is wrong is the error's subject.
    public init(_ pairs: [(prefix: String, uri: String)]) throws(XPath.Invalid) {
        for (prefix, uri) in pairs {
            let isName = XPathLexer.isName(prefix)
            if !isName || prefix.hasPrefix("xml") {
                throw XPath.Invalid(prefix, "'\(prefix)' cannot be a prefix")
            }
            if uri.isEmpty { throw XPath.Invalid(prefix, "the namespace of the prefix '\(prefix)' is empty") }
            if uri.unicodeScalars.contains("\0") {
                throw XPath.Invalid(prefix, "the namespace of the prefix '\(prefix)' holds a NUL character")
            }
        }
        self.pairs = Dictionary(pairs.map { ($0.prefix, $0.uri) }) { _, last in last }
    }
}

/// An expression of XPath 1.0 (https://www.w3.org/TR/1999/REC-xpath-19991116/) with its core functions and no variables.
///
/// It is validated once, here, and compiled again for each document: libxml2 writes into a compiled expression while it is
/// evaluated, so two threads cannot share one.
public struct XPath: Sendable, Hashable, CustomStringConvertible {
    /// The type of an expression's result, which in XPath 1.0 depends on its text alone.
    public enum Result: String, Sendable {
        case nodes, text, number, boolean
    }

    public struct Invalid: Error, Hashable, Sendable {
        /// The expression or the prefix.
        public let subject: String
        /// The error, as the end of a sentence.
        public let reason: String

        init(_ subject: String, _ reason: String) { (self.subject, self.reason) = (subject, reason) }
    }

    public let text: String
    public let namespaces: XPathNamespaces
    public let result: Result
    let joinsSets: Bool

    /// The expression as it is written: XPath, or the selector that it was translated from.
    public var description: String { written }
    private let written: String

    /// Bytes of an expression, at most.
    public static let maximumBytes = 2048

    /// - Parameter written: how the user wrote it; nil for the expression itself.
    public init(_ text: String, namespaces: XPathNamespaces = .none, written: String? = nil) throws(Invalid) {
        if text.utf8.count > XPath.maximumBytes { throw Invalid(text, "it is longer than \(XPath.maximumBytes) bytes") }
        var lexer = XPathLexer(text)
        try lexer.check(namespaces)
        result = try XPathEngine.validate(text, namespaces)
        // Paths of names alone libxml2 evaluates in one walk, however they join.
        let isOneWalk = result == .nodes && !text.contains(where: { "[(@:".contains($0) }) && !text.contains("..")
        joinsSets = lexer.joinsSets && !isOneWalk
        (self.text, self.namespaces, self.written) = (text, namespaces, written ?? text)
    }

    /// True when it begins at the root of the document wherever it is evaluated. `(//a)[1]` does too and is not seen.
    public var isAbsolute: Bool { text.first { $0 != " " } == "/" }
}
