// SPDX-License-Identifier: Apache-2.0

/// A selector of CSS (Selectors Level 3, https://www.w3.org/TR/selectors-3/, with `:is`, `:where` and `:has` of Level 4) as XPath
/// 1.0, as far as XPath has an equal. `::attr(NAME)` and `::text` at its end name an attribute and the text of an element.
public struct CSSSelector: Sendable {
    /// Why a selector has no equal, as the end of a sentence.
    public struct Unsupported: Error, Hashable, Sendable {
        /// Which part, and what to write instead.
        public var reason: String
    }

    /// The expression.
    public let xpath: String

    /// - Parameters:
    ///   - isRelative: whether it selects inside of the node where it is evaluated, and not anywhere in the document.
    ///   - isHTML: whether names are in lower case, as in the trees of HTML.
    public init(_ text: String, isRelative: Bool = false, isHTML: Bool = true) throws(Unsupported) {
        var parser = CSSParser(Array(text), isHTML: isHTML)
        xpath = try parser.list(from: isRelative ? "." : "").joined(separator: " | ")
    }

    /// Returns a text as a literal of XPath, which has no escapes.
    public static func literal(_ text: String) -> String {
        if !text.contains("'") { return "'\(text)'" }
        if !text.contains("\"") { return "\"\(text)\"" }
        let parts = text.split(separator: "'", omittingEmptySubsequences: false).map { "'\($0)'" }
        return "concat(\(parts.joined(separator: ", \"'\", ")))"
    }

    /// Returns the condition that a list of words, as in `class`, has a word.
    static func hasWord(_ attribute: String, _ word: String) -> String {
        if word.isEmpty || word.contains(where: \.isWhitespace) { return "false()" }
        return "contains(concat(' ', normalize-space(@\(attribute)), ' '), \(literal(" \(word) ")))"
    }
}

/// Elements that one compound selector names: a name and conditions.
private struct Compound {
    /// `*` for any.
    var name = "*"
    var conditions: [String] = []
    /// What of the element is selected: `/@href`, `/text()`, or nothing for itself.
    var end = ""

    var step: String { name + conditions.map { "[\($0)]" }.joined() }
    /// Whether an element is one of them, as a condition of it.
    var test: String { "self::\(step)" }
}

private struct CSSParser {
    typealias Unsupported = CSSSelector.Unsupported

    private let text: [Character]
    private let isHTML: Bool
    private var at = 0
    private var depth = 0

    init(_ text: [Character], isHTML: Bool) { (self.text, self.isHTML) = (text, isHTML) }

    private var next: Character? { at < text.count ? text[at] : nil }

    private mutating func take(_ character: Character) -> Bool {
        guard next == character else { return false }
        at += 1
        return true
    }

    private mutating func skipBlanks() -> Bool {
        let start = at
        while let next, next.isWhitespace { at += 1 }
        return at > start
    }

    /// Reads selectors with commas between them, up to the end of the text.
    mutating func list(from start: String) throws(Unsupported) -> [String] {
        var paths: [String] = []
        repeat { paths.append(try path(from: start)) } while take(",")
        guard next == nil else { throw unexpected() }
        return paths
    }

    /// Reads compounds with combinators between them, up to a comma, a parenthesis or the end.
    /// - Parameter start: where it begins: nothing for the document, `.` for a node, whose children `> NAME` names.
    private mutating func path(from start: String) throws(Unsupported) -> String {
        _ = skipBlanks()
        var path = start + "//"
        if next == ">", !start.isEmpty {
            at += 1
            _ = skipBlanks()
            path = start + "/"
        }
        var last = try compound()
        path += last.step
        while true {
            let blanks = skipBlanks()
            guard let sign = next, sign != ",", sign != ")" else { return path + last.end }
            if !last.end.isEmpty { throw Unsupported("nothing can follow '::attr()' and '::text'; write them last") }
            if ">+~".contains(sign) {
                at += 1
                _ = skipBlanks()
                last = try compound()
                switch sign {
                case ">": path += "/" + last.step
                case "+": path += "/following-sibling::*[1]/" + last.test
                default: path += "/following-sibling::" + last.step
                }
            } else if blanks {
                last = try compound()
                path += "//" + last.step
            } else {
                throw unexpected()
            }
        }
    }

    private mutating func compound() throws(Unsupported) -> Compound {
        var found = Compound()
        let start = at
        if take("*") {
        } else if next.map(CSSParser.isName) == true {
            if let next, next.isASCII, next.isNumber {
                throw Unsupported(reason: "the name of an element begins with a letter, not with '\(next)'")
            }
            found.name = isHTML ? try name().lowercased() : try name()
            if take("|") { found.name += ":" + (next == "*" ? takeStar() : try name()) }
        }
        while let sign = next, found.end.isEmpty {
            switch sign {
            case "#":
                at += 1
                found.conditions.append("@id = \(CSSSelector.literal(try name()))")
            case ".":
                at += 1
                found.conditions.append(CSSSelector.hasWord("class", try name()))
            case "[": found.conditions.append(try attribute())
            case ":": try pseudo(&found)
            default:
                if at == start { throw unexpected() }
                return found
            }
        }
        if at == start { throw unexpected() }
        return found
    }

    private mutating func takeStar() -> String {
        at += 1
        return "*"
    }

    private mutating func attribute() throws(Unsupported) -> String {
        at += 1
        _ = skipBlanks()
        let name = isHTML ? try name().lowercased() : try name()
        _ = skipBlanks()
        if take("]") { return "@\(name)" }
        let sign = next
        if let sign, "~|^$*!".contains(sign) { at += 1 }
        guard take("=") else { throw unexpected() }
        _ = skipBlanks()
        let value = try next == "\"" || next == "'" ? quoted() : self.name()
        if skipBlanks(), let flag = next, "iIsS".contains(flag) {
            throw Unsupported(
                "the flag '\(flag)' of '[\(name)=…]' has no equal in XPath 1.0; write the value in the page's own case")
        }
        guard take("]") else { throw unexpected() }
        let text = CSSSelector.literal(value)
        // An empty part is in no value (Selectors Level 3 §6.3.2), but in every text of XPath.
        if value.isEmpty, let sign, "^$*".contains(sign) { return "false()" }
        switch sign {
        case "~": return CSSSelector.hasWord(name, value)
        case "|": return "@\(name) = \(text) or starts-with(@\(name), \(CSSSelector.literal(value + "-")))"
        case "^": return "starts-with(@\(name), \(text))"
        case "*": return "contains(@\(name), \(text))"
        case "!": return "not(@\(name) = \(text))"
        case "$":
            let length = value.unicodeScalars.count - 1
            return "substring(@\(name), string-length(@\(name)) - \(length)) = \(text)"
        default: return "@\(name) = \(text)"
        }
    }

    private static func isName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "-_\\".contains(character)
    }

    /// Reads an identifier; a backslash escapes the sign behind it.
    private mutating func name() throws(Unsupported) -> String {
        var name = ""
        while let next, CSSParser.isName(next) {
            at += 1
            if next == "\\" { name.append(try escaped()) } else { name.append(next) }
        }
        guard !name.isEmpty else { throw unexpected() }
        return name
    }

    /// Reads what a backslash escapes: up to six hexadecimal digits and a blank, or the sign itself (CSS Syntax §4.3.7).
    private mutating func escaped() throws(Unsupported) -> Character {
        guard let sign = next else { throw unexpected() }
        let digits = text[at...].prefix(6).prefix(while: \.isHexDigit)
        guard !digits.isEmpty else {
            at += 1
            return sign
        }
        at += digits.count
        if next?.isWhitespace == true { at += 1 }
        guard let code = UInt32(String(digits), radix: 16), code != 0, let scalar = Unicode.Scalar(code) else {
            throw Unsupported("'\\\(String(digits))' is no character")
        }
        return Character(scalar)
    }

    private mutating func quoted() throws(Unsupported) -> String {
        let quote = next
        at += 1
        var words = ""
        while let next, next != quote {
            at += 1
            if next == "\\" { words.append(try escaped()) } else { words.append(next) }
        }
        guard next != nil else { throw unexpected() }
        at += 1
        return words
    }

    private func unexpected() -> Unsupported {
        let place = next.map { "'\($0)' at character \(at + 1)" } ?? "its end"
        return Unsupported("\(place) is no selector that can be read")
    }
}

extension CSSSelector.Unsupported {
    fileprivate init(_ reason: String) { self.init(reason: reason) }
}

/// Pseudo-classes, and what stands behind `::`.
extension CSSParser {
    private mutating func pseudo(_ found: inout Compound) throws(Unsupported) {
        at += 1
        if take(":") { return found.end = try end() }
        let name = try name().lowercased()
        guard take("(") else { return found.conditions.append(try condition(name, of: found)) }
        depth += 1
        // Deeper ones are refused as XPath, too, and would cost stack here.
        if depth > 16 { throw Unsupported("its parentheses are nested deeper than 16") }
        defer { depth -= 1 }
        _ = skipBlanks()
        let condition = try call(name, of: found)
        _ = skipBlanks()
        guard take(")") else { throw unexpected() }
        found.conditions.append(condition)
    }

    /// Reads what is selected of an element.
    private mutating func end() throws(Unsupported) -> String {
        let name = try name().lowercased()
        if name == "text" { return "/text()" }
        guard name == "attr", take("(") else {
            throw Unsupported("'::\(name)' names no element; write '::attr(NAME)', '::text' or nothing")
        }
        _ = skipBlanks()
        let attribute = isHTML ? try self.name().lowercased() : try self.name()
        _ = skipBlanks()
        guard take(")") else { throw unexpected() }
        return "/@\(attribute)"
    }

    /// Returns the condition of a pseudo-class without arguments.
    private func condition(_ name: String, of found: Compound) throws(Unsupported) -> String {
        switch name {
        case "first-child": return "not(preceding-sibling::*)"
        case "last-child": return "not(following-sibling::*)"
        case "only-child": return "not(preceding-sibling::*) and not(following-sibling::*)"
        case "empty": return "not(node())"
        case "root": return "not(parent::*)"
        case "first-of-type": return "not(preceding-sibling::\(try element(of: found, name)))"
        case "last-of-type": return "not(following-sibling::\(try element(of: found, name)))"
        case "only-of-type":
            let element = try element(of: found, name)
            return "not(preceding-sibling::\(element)) and not(following-sibling::\(element))"
        case "checked": return "@checked or @selected"
        case "disabled": return "@disabled"
        case "link": return "@href"
        default: throw unsupported(name)
        }
    }

    /// Reads the arguments of a pseudo-class and returns its condition.
    private mutating func call(_ name: String, of found: Compound) throws(Unsupported) -> String {
        switch name {
        case "nth-child": return try place("preceding-sibling::*")
        case "nth-last-child": return try place("following-sibling::*")
        case "nth-of-type": return try place("preceding-sibling::\(try element(of: found, name))")
        case "nth-last-of-type": return try place("following-sibling::\(try element(of: found, name))")
        case "not": return "not(\(try compounds(name)))"
        case "is", "where", "matches": return try compounds(name)
        case "has":
            var paths: [String] = []
            repeat { paths.append(try path(from: ".")) } while take(",")
            return paths.joined(separator: " or ")
        case "contains": return "contains(., \(CSSSelector.literal(try words())))"
        default: throw unsupported(name)
        }
    }

    /// Reads compounds with commas between them as a condition that one of them is met.
    private mutating func compounds(_ name: String) throws(Unsupported) -> String {
        var tests: [String] = []
        repeat {
            _ = skipBlanks()
            let compound = try compound()
            guard compound.end.isEmpty else {
                throw Unsupported("':\(name)()' takes elements; leave the '::' in it out")
            }
            tests.append(compound.test)
            let blanks = skipBlanks()
            if let next, ">+~".contains(next) || blanks && next != "," && next != ")" {
                throw Unsupported(
                    "':\(name)()' takes no '\(next)' inside here; name one element, as ':\(name)(td.price)'")
            }
        } while take(",")
        return tests.joined(separator: " or ")
    }

    private mutating func words() throws(Unsupported) -> String {
        if next == "\"" || next == "'" { return try quoted() }
        let start = at
        while let next, next != ")" { at += 1 }
        var words = text[start..<at]
        while words.last?.isWhitespace == true { words.removeLast() }
        return String(words)
    }

    private func element(of found: Compound, _ name: String) throws(Unsupported) -> String {
        guard found.name != "*" else {
            throw Unsupported("':\(name)' needs the name of its element in XPath 1.0; write it before, as 'td:\(name)'")
        }
        return found.name
    }

    /// Reads `an+b`, `odd` or `even` as the condition that so many siblings stand before.
    private mutating func place(_ siblings: String) throws(Unsupported) -> String {
        let start = at
        while let next, next != ")" { at += 1 }
        let written = String(text[start..<at])
        let compact = written.filter { !$0.isWhitespace }.lowercased()
        let (step, offset): (Int, Int)
        switch compact {
        case "odd": (step, offset) = (2, 1)
        case "even": (step, offset) = (2, 0)
        default:
            let parts = compact.split(separator: "n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let first = parts.count == 1 ? "0" : ["": "1", "+": "1", "-": "-1"][parts[0]] ?? parts[0]
            let second = parts.count == 1 ? parts[0] : parts[1].isEmpty ? "0" : parts[1]
            let bounds = -999_999...999_999
            guard let a = Int(first), let b = Int(second), bounds.contains(a), bounds.contains(b) else {
                throw Unsupported("'\(written)' is no place; write a number, 'odd', 'even' or as '3n+1'")
            }
            (step, offset) = (a, b)
        }
        let before = "count(\(siblings))"
        if step == 0 { return offset > 0 ? "\(before) = \(offset - 1)" : "false()" }
        if step < 0 {
            return offset < 1 ? "false()" : "\(before) < \(offset) and (\(offset - 1) - \(before)) mod \(-step) = 0"
        }
        // The remainder of XPath has the sign of the dividend: the first place that counts is put at zero or above.
        let first = offset > 0 ? offset : offset + (-offset / step + 1) * step
        return "\(before) >= \(first - 1) and (\(before) - \(first - 1)) mod \(step) = 0"
    }

    private func unsupported(_ name: String) -> Unsupported {
        let browser: Set = [
            "hover", "active", "focus", "focus-within", "focus-visible", "visited", "target", "enabled", "any-link",
        ]
        let why =
            browser.contains(name)
            ? "a page that is only read has no such state; leave it out" : "write that part as XPath"
        return Unsupported("':\(name)' has no equal in XPath 1.0: \(why)")
    }
}
