// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Makes a tree of tokens, in one pass with a stack of open sections.
struct TemplateParser {
    private struct Open {
        var name: String
        var isInverted: Bool
        var token: TemplateToken
        /// The parts before it in the enclosing section.
        var before: [MustacheTemplate.Part]
    }

    private let names: TemplateVocabulary
    private var open: [Open] = []
    private var parts: [MustacheTemplate.Part] = []

    private init(names: TemplateVocabulary) { self.names = names }

    static func parse(_ text: String, names: TemplateVocabulary) throws(TemplateError) -> [MustacheTemplate.Part] {
        guard text.utf8.count <= MustacheTemplate.maximumLength else {
            let bytes = MustacheTemplate.maximumLength
            throw TemplateError(line: 1, column: 1, detail: "the template is longer than \(bytes) bytes; shorten it")
        }
        var parser = TemplateParser(names: names)
        for token in try TemplateScanner.tokens(of: text) { try parser.take(token) }
        if let left = parser.open.last {
            throw left.token.error("the section '\(left.name)' is not closed; write '{{/\(left.name)}}'")
        }
        return parser.parts
    }

    private mutating func take(_ token: TemplateToken) throws(TemplateError) {
        switch token.kind {
        case .text: parts.append(.text(token.content))
        case .comment: break
        case .value: parts.append(try value(token))
        case .section, .inverted: try begin(token)
        case .end: try end(token)
        }
    }

    private func value(_ token: TemplateToken) throws(TemplateError) -> MustacheTemplate.Part {
        guard token.content == "." else { return .value(try name(token)) }
        guard open.contains(where: { !$0.isInverted }) else {
            throw token.error("'{{.}}' is an element of a list; write it inside '{{#name}}…{{/name}}'")
        }
        return .element
    }

    private mutating func begin(_ token: TemplateToken) throws(TemplateError) {
        guard open.count < MustacheTemplate.maximumNesting else {
            throw token.error("sections are nested deeper than \(MustacheTemplate.maximumNesting); use several rules")
        }
        let name = try name(token)
        open.append(Open(name: name, isInverted: token.kind == .inverted, token: token, before: parts))
        parts = []
    }

    private mutating func end(_ token: TemplateToken) throws(TemplateError) {
        guard let section = open.popLast() else {
            throw token.error("'{{/\(token.content)}}' closes a section that was never opened; remove it")
        }
        guard section.name == token.content else {
            let place = "\(section.token.line):\(section.token.column)"
            throw token.error(
                "'{{/\(token.content)}}' does not close '\(section.name)', opened at \(place) of the text; "
                    + "write '{{/\(section.name)}}' first")
        }
        parts = section.before + [.section(section.name, isInverted: section.isInverted, parts)]
    }

    private func name(_ token: TemplateToken) throws(TemplateError) -> String {
        let name = token.content
        guard !name.isEmpty else { throw token.error("an empty tag; write a name, as in '{{item.title}}'") }
        guard !name.contains(where: { $0.isWhitespace || "{}(),|".contains($0) }) else {
            throw token.error("'\(name)' is not a name; a tag contains one dotted name, without functions or filters")
        }
        guard !name.split(separator: ".", omittingEmptySubsequences: false).contains("") else {
            throw token.error("'\(name)' has an empty part; write a dotted name, as in 'item.title'")
        }
        guard names.contains(name) else {
            let meant = didYouMean(name, among: names.known)
            throw token.error(
                "unknown name \(quoted(name))" + (meant ?? "; known are \(names.known.joined(separator: ", "))"))
        }
        return name
    }
}
