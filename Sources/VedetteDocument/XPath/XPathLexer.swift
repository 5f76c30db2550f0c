// SPDX-License-Identifier: Apache-2.0

/// Finds errors in an expression that libxml2 reports only when an evaluation reaches them: an undeclared prefix, an unknown
/// function or one with too few arguments, a variable. Also refuses nesting that costs stack.
struct XPathLexer {
    private enum Token: Equatable {
        /// A name with its prefix, if it has one; `*` may follow the prefix.
        case name(prefix: String?, String)
        case variable(String)
        /// A literal, a number, `.`, `..`.
        case operand
        case mark(Character)
        /// A name before `::`.
        case axis(String)
    }

    private struct Open {
        let mark: Character
        /// The function whose arguments these are.
        let function: String?
        var commas = 0
        var isEmpty = true
    }

    private let text: String
    private let characters: [Character]
    private var at = 0
    /// After an operand, `*` and a name are operators (XPath 1.0 §3.7).
    private var followsOperand = false
    private var open: [Open] = []
    /// The expression joins sets of nodes that may overlap, by an axis, `..`, a second `//` or `|`, or compares two sets. libxml2
    /// compares each node of one set with all of the other, and does not count these steps.
    private(set) var joinsSets = false
    /// The tokens before the next one, the last one last.
    private var before: [Token] = []
    private var closesCall = false
    private var comparison = Comparison.none

    /// What follows the sign of a comparison whose left side may have several nodes: libxml2 compares each of them with each of the
    /// right side, and does not count these steps either.
    private enum Comparison { case none, begun, single }

    init(_ text: String) {
        self.text = text
        characters = Array(text)
    }

    static let deepest = 32

    mutating func check(_ namespaces: XPathNamespaces) throws(XPath.Invalid) {
        guard characters.contains(where: { !$0.isWhitespace }) else { throw XPath.Invalid(text, "it is empty") }
        if text.unicodeScalars.contains("\0") { throw XPath.Invalid(text, "it holds a NUL character") }
        while let token = try next() {
            watch(token)
            if token != .mark(")"), !open.isEmpty { open[open.count - 1].isEmpty = false }
            switch token {
            case .name(let prefix, let name): try self.name(prefix, name, namespaces)
            case .variable(let name): throw XPath.Invalid(text, "it uses the variable '$\(name)', and there are none")
            case .operand: followsOperand = true
            case .axis(let name):
                if !["child", "attribute", "self"].contains(name) { joinsSets = true }
                followsOperand = false
            case .mark(let mark): try self.mark(mark)
            }
        }
        if let last = open.last { throw XPath.Invalid(text, "a '\(last.mark)' is not closed") }
    }

    /// Looks for a comparison of two sets of nodes: of two sides that are neither a value, nor a call, nor `.` or `@name`.
    private mutating func watch(_ token: Token) {
        switch (comparison, token) {
        case (.none, _), (.begun, .mark("=")): break
        case (.begun, .operand), (.begun, .mark("@")): comparison = .single
        case (.begun, .mark("-")): comparison = .none
        case (.begun, .name(nil, let name)) where XPathLexer.functions[name] != nil && peek(skippingSpace: true) == "(":
            comparison = .none
        case (.single, .name) where before.last == .mark("@"): break
        case (.begun, _), (.single, .mark("/")),
            (.single, .mark("*")) where before.last == .mark("@"):
            (joinsSets, comparison) = (true, .none)
        case (.single, _): comparison = .none
        }
        if [.mark("="), .mark("!"), .mark("<"), .mark(">")].contains(token), followsOperand, !isSingle {
            comparison = .begun
        }
        before = before.suffix(2) + [token]
    }

    /// Whether the side before this token has one value.
    private var isSingle: Bool {
        switch before.last {
        case .operand: before.dropLast().last != .mark("/")
        case .name: before.count > 1 && before[before.count - 2] == .mark("@") && before.first != .mark("/")
        case .mark(")"): closesCall
        default: false
        }
    }

    private mutating func name(_ prefix: String?, _ name: String, _ namespaces: XPathNamespaces) throws(XPath.Invalid) {
        if prefix == nil, followsOperand, ["and", "or", "div", "mod"].contains(name) {
            followsOperand = false
            return
        }
        followsOperand = true
        let isCall = peek(skippingSpace: true) == "("
        if let prefix {
            if isCall { throw XPath.Invalid(text, "it calls '\(prefix):\(name)', which is no function of XPath 1.0") }
            if prefix != "xml", namespaces.pairs[prefix] == nil {
                throw XPath.Invalid(text, "the prefix '\(prefix)' is not declared; declare it in 'namespaces'")
            }
        }
        guard isCall, !XPathLexer.nodeTypes.contains(name) else { return }
        if name == "id" { throw XPath.Invalid(text, "it calls 'id'; write //*[@id = '…'] instead") }
        guard XPathLexer.functions[name] != nil else {
            throw XPath.Invalid(text, "it calls '\(name)', which is no function of XPath 1.0")
        }
        skipSpace()
        at += 1
        try enter(Open(mark: "(", function: name))
    }

    private mutating func mark(_ mark: Character) throws(XPath.Invalid) {
        switch mark {
        case "(", "[": try enter(Open(mark: mark, function: nil))
        case ")", "]": try leave(mark)
        case ",":
            if !open.isEmpty { open[open.count - 1].commas += 1 }
            followsOperand = false
        case "*": followsOperand.toggle()
        case "/":
            if followsOperand, peek() == "/" { joinsSets = true }
            followsOperand = false
        case "|":
            joinsSets = true
            followsOperand = false
        default: followsOperand = false
        }
    }

    private mutating func enter(_ bracket: Open) throws(XPath.Invalid) {
        open.append(bracket)
        followsOperand = false
        if open.count > XPathLexer.deepest {
            throw XPath.Invalid(text, "its brackets are nested deeper than \(XPathLexer.deepest)")
        }
    }

    private mutating func leave(_ mark: Character) throws(XPath.Invalid) {
        followsOperand = true
        guard let last = open.popLast(), (last.mark == "(") == (mark == ")") else {
            throw XPath.Invalid(text, "a '\(mark)' closes nothing")
        }
        closesCall = last.function != nil
        guard let function = last.function, let arity = XPathLexer.functions[function] else { return }
        let count = last.isEmpty ? 0 : last.commas + 1
        if !arity.contains(count) {
            throw XPath.Invalid(text, "it calls '\(function)' with \(count) argument\(count == 1 ? "" : "s")")
        }
    }
}

extension XPathLexer {
    private func peek(skippingSpace: Bool = false, ahead: Int = 0) -> Character? {
        var place = at
        while skippingSpace, place < characters.count, characters[place].isWhitespace { place += 1 }
        return place + ahead < characters.count ? characters[place + ahead] : nil
    }

    private mutating func skipSpace() {
        while let next = peek(), next.isWhitespace { at += 1 }
    }

    private mutating func next() throws(XPath.Invalid) -> Token? {
        skipSpace()
        guard let first = peek() else { return nil }
        if first == "\"" || first == "'" { return try literal(first) }
        if first.isASCII && first.isNumber || first == "." { return number() }
        if first == "$" {
            at += 1
            return .variable(takeName())
        }
        if XPathLexer.startsName(first) { return qualifiedName() }
        at += 1
        return .mark(first)
    }

    private mutating func literal(_ quote: Character) throws(XPath.Invalid) -> Token {
        guard let end = characters[(at + 1)...].firstIndex(of: quote) else {
            throw XPath.Invalid(text, "a text that begins with \(quote) does not end")
        }
        at = end + 1
        return .operand
    }

    private mutating func number() -> Token {
        if peek() == ".", peek(ahead: 1) == "." { joinsSets = true }
        while let next = peek(), next == "." || next.isASCII && next.isNumber { at += 1 }
        return .operand
    }

    private mutating func qualifiedName() -> Token {
        let name = takeName()
        let space = at
        skipSpace()
        if peek() == ":", peek(ahead: 1) == ":" {
            at += 2
            return .axis(name)
        }
        at = space
        guard peek() == ":", let second = peek(ahead: 1), second == "*" || XPathLexer.startsName(second) else {
            return .name(prefix: nil, name)
        }
        at += 1
        if second == "*" {
            at += 1
            return .name(prefix: name, "*")
        }
        return .name(prefix: name, takeName())
    }

    private mutating func takeName() -> String {
        let start = at
        while let next = peek(), XPathLexer.continuesName(next) { at += 1 }
        return String(characters[start..<at])
    }

    private static func startsName(_ character: Character) -> Bool { character == "_" || character.isLetter }

    private static func continuesName(_ character: Character) -> Bool {
        startsName(character) || character.isNumber || character == "-" || character == "."
    }

    /// Near enough to an NCName (https://www.w3.org/TR/xml-names/#NT-NCName).
    static func isName(_ text: String) -> Bool {
        text.first.map(startsName) == true && text.allSatisfy(continuesName)
    }

    private static let nodeTypes: Set<String> = ["node", "text", "comment", "processing-instruction"]

    /// The core function library (XPath 1.0 §4) with the number of arguments each takes.
    private static let functions: [String: ClosedRange<Int>] = [
        "last": 0...0, "position": 0...0, "count": 1...1, "local-name": 0...1, "namespace-uri": 0...1,
        "name": 0...1, "string": 0...1, "concat": 2...64, "starts-with": 2...2, "contains": 2...2,
        "substring-before": 2...2, "substring-after": 2...2, "substring": 2...3, "string-length": 0...1,
        "normalize-space": 0...1, "translate": 3...3, "boolean": 1...1, "not": 1...1, "true": 0...0, "false": 0...0,
        "lang": 1...1, "number": 0...1, "sum": 1...1, "floor": 1...1, "ceiling": 1...1, "round": 1...1,
    ]
}
