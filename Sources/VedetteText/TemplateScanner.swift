// SPDX-License-Identifier: Apache-2.0

/// A piece of a template: literal text, or one tag.
struct TemplateToken {
    enum Kind {
        case text, value, section, inverted, end, comment
    }

    var kind: Kind
    /// The text, or the content of the tag without sigil and surrounding white space.
    var content: String
    var line: Int
    var column: Int

    func error(_ detail: String) -> TemplateError { TemplateError(line: line, column: column, detail: detail) }
}

/// Splits a template into tokens and drops the lines on which a section tag or a comment stands alone (mustache(5):
/// "standalone").
struct TemplateScanner {
    private let text: [Unicode.Scalar]
    private var at = 0
    private var line = 1
    private var lineStart = 0
    private var tokens: [TemplateToken] = []

    private init(_ text: String) { self.text = Array(text.unicodeScalars) }

    static func tokens(of text: String) throws(TemplateError) -> [TemplateToken] {
        var scanner = TemplateScanner(text)
        while scanner.at < scanner.text.count {
            scanner.scanText()
            if scanner.at < scanner.text.count { try scanner.scanTag() }
        }
        return scanner.tokens
    }

    private func starts(_ word: String, at place: Int) -> Bool { text[place...].starts(with: word.unicodeScalars) }

    private mutating func advance(to place: Int) {
        for i in at..<place where text[i] == "\n" { (line, lineStart) = (line + 1, i + 1) }
        at = place
    }

    private mutating func scanText() {
        var end = at
        while end < text.count, !starts("{{", at: end) { end += 1 }
        append(text[at..<end])
        advance(to: end)
    }

    private mutating func append(_ scalars: ArraySlice<Unicode.Scalar>) {
        guard !scalars.isEmpty else { return }
        let content = String(String.UnicodeScalarView(scalars))
        tokens.append(TemplateToken(kind: .text, content: content, line: line, column: at - lineStart + 1))
    }

    private mutating func scanTag() throws(TemplateError) {
        var token = TemplateToken(kind: .value, content: "", line: line, column: at - lineStart + 1)
        let isTriple = starts("{{{", at: at)
        let closing = isTriple ? "}}}" : "}}"
        let start = at + closing.unicodeScalars.count
        var end = start
        while end < text.count, !starts(closing, at: end) { end += 1 }
        let inside = trim(text[min(start, text.count)..<end])
        let isComment = inside.first == "!" && !isTriple
        guard end < text.count, isComment || !starts("{{", inside: inside) else {
            throw token.error("'\(isTriple ? "{{{" : "{{")' is not closed; write '\(closing)' after the name")
        }
        let tag = at
        advance(to: end + closing.unicodeScalars.count)
        (token.kind, token.content) = isTriple ? (.value, string(inside)) : try classify(inside, token)
        if token.kind != .value { dropStandaloneLine(from: tag) }
        tokens.append(token)
    }

    private func starts(_ word: String, inside slice: ArraySlice<Unicode.Scalar>) -> Bool {
        slice.indices.contains { slice[$0...].starts(with: word.unicodeScalars) }
    }

    private func classify(
        _ inside: ArraySlice<Unicode.Scalar>, _ token: TemplateToken
    ) throws(TemplateError) -> (TemplateToken.Kind, String) {
        let rest = string(trim(inside.dropFirst()))
        switch inside.first {
        case "#": return (.section, rest)
        case "^": return (.inverted, rest)
        case "/": return (.end, rest)
        case "!": return (.comment, "")
        case "&": return (.value, rest)
        case ">", "<", "$": throw token.error("partials are not supported; write their text here")
        case "=": throw token.error("delimiters cannot be changed; write '{{' and '}}'")
        default: return (.value, string(inside))
        }
    }

    /// Removes the blanks and the line end around a tag that stands alone on its line.
    ///
    /// - Parameter tag: where the tag began; `at` is behind it.
    private mutating func dropStandaloneLine(from tag: Int) {
        var before = tag
        while before > 0, text[before - 1] == " " || text[before - 1] == "\t" { before -= 1 }
        var after = at
        while after < text.count, text[after] == " " || text[after] == "\t" { after += 1 }
        let isLast = after == text.count
        let breaks = isLast ? 0 : starts("\r\n", at: after) ? 2 : text[after] == "\n" ? 1 : nil
        guard let breaks, before == 0 || text[before - 1] == "\n" else { return }
        if before < tag, var last = tokens.popLast() {
            last.content.unicodeScalars.removeLast(tag - before)
            if !last.content.isEmpty { tokens.append(last) }
        }
        advance(to: after + breaks)
    }

    private func trim(_ slice: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
        var slice = slice.drop { $0.properties.isWhitespace }
        while let last = slice.last, last.properties.isWhitespace { slice.removeLast() }
        return slice
    }

    private func string(_ slice: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(slice)) }
}
