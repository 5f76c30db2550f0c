// SPDX-License-Identifier: Apache-2.0

/// A selector of CSS (Selectors Level 3, https://www.w3.org/TR/selectors-3/) as XPath 1.0, as far as XPath has an equal.
struct CSSSelector {
    /// Why a selector has no equal, as the end of a sentence.
    struct Unsupported: Error {
        var reason: String
    }

    /// The expression, which selects from anywhere in the document.
    let xpath: String

    init(_ text: String) throws(Unsupported) {
        var parser = Parser(Array(text))
        xpath = try parser.list().map { "//" + $0 }.joined(separator: " | ")
    }

    /// Returns a text as a literal of XPath, which has no escapes.
    static func literal(_ text: String) -> String {
        if !text.contains("'") { return "'\(text)'" }
        if !text.contains("\"") { return "\"\(text)\"" }
        let parts = text.split(separator: "'", omittingEmptySubsequences: false).map { "'\($0)'" }
        return "concat(\(parts.joined(separator: ", \"'\", ")))"
    }

    /// Returns the condition that a list of words, as in `class`, has a word.
    static func hasWord(_ attribute: String, _ word: String) -> String {
        "contains(concat(' ', normalize-space(@\(attribute)), ' '), \(literal(" \(word) ")))"
    }
}

/// Elements that one compound selector names: a name and conditions.
private struct Compound {
    /// `*` for any.
    var name = "*"
    var conditions: [String] = []

    var step: String { name + conditions.map { "[\($0)]" }.joined() }
}

extension CSSSelector {
    private struct Parser {
        private let text: [Character]
        private var at = 0

        init(_ text: [Character]) { self.text = text }

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
        mutating func list() throws(Unsupported) -> [String] {
            var paths: [String] = []
            repeat { paths.append(try path()) } while take(",")
            guard next == nil else { throw unexpected() }
            return paths
        }

        /// Reads compounds with combinators between them, up to a comma, a parenthesis or the end.
        private mutating func path() throws(Unsupported) -> String {
            _ = skipBlanks()
            var path = try compound().step
            while true {
                let blanks = skipBlanks()
                guard let sign = next, sign != ",", sign != ")" else { return path }
                if ">+~".contains(sign) {
                    at += 1
                    _ = skipBlanks()
                    let step = try compound().step
                    switch sign {
                    case ">": path += "/" + step
                    case "+": path += "/following-sibling::*[1]/self::" + step
                    default: path += "/following-sibling::" + step
                    }
                } else if blanks {
                    path += "//" + (try compound().step)
                } else {
                    throw unexpected()
                }
            }
        }

        private mutating func compound() throws(Unsupported) -> Compound {
            var found = Compound()
            let start = at
            if take("*") {
            } else if next.map(Parser.isName) == true {
                // Names of elements are in lower case in the trees of HTML.
                found.name = try name().lowercased()
                if take("|") { found.name += ":" + (try name()) }
            }
            while let sign = next {
                switch sign {
                case "#":
                    at += 1
                    found.conditions.append("@id = \(literal(try name()))")
                case ".":
                    at += 1
                    found.conditions.append(hasWord("class", try name()))
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

        private mutating func attribute() throws(Unsupported) -> String {
            at += 1
            _ = skipBlanks()
            let name = try name().lowercased()
            _ = skipBlanks()
            if take("]") { return "@\(name)" }
            let sign = next
            if let sign, "~|^$*!".contains(sign) { at += 1 }
            guard take("=") else { throw unexpected() }
            _ = skipBlanks()
            let value = try next == "\"" || next == "'" ? quoted() : self.name()
            _ = skipBlanks()
            guard take("]") else { throw unexpected() }
            let text = literal(value)
            switch sign {
            case "~": return hasWord(name, value)
            case "|": return "@\(name) = \(text) or starts-with(@\(name), \(literal(value + "-")))"
            case "^": return "starts-with(@\(name), \(text))"
            case "*": return "contains(@\(name), \(text))"
            case "!": return "not(@\(name) = \(text))"
            case "$":
                let length = value.unicodeScalars.count - 1
                return "substring(@\(name), string-length(@\(name)) - \(length)) = \(text)"
            default: return "@\(name) = \(text)"
            }
        }

        private mutating func pseudo(_ found: inout Compound) throws(Unsupported) {
            at += 1
            if next == ":" { throw Unsupported(reason: "'::' names no element") }
            let name = try name().lowercased()
            let argument = try take("(") ? self.argument(of: name) : nil
            switch (name, argument) {
            case ("first-child", nil): found.conditions.append("not(preceding-sibling::*)")
            case ("last-child", nil): found.conditions.append("not(following-sibling::*)")
            case ("only-child", nil):
                found.conditions.append("not(preceding-sibling::*) and not(following-sibling::*)")
            case ("empty", nil): found.conditions.append("not(node())")
            case ("root", nil): found.conditions.append("not(parent::*)")
            case ("first-of-type", nil) where found.name != "*":
                found.conditions.append("not(preceding-sibling::\(found.name))")
            case ("last-of-type", nil) where found.name != "*":
                found.conditions.append("not(following-sibling::\(found.name))")
            case ("nth-child", .text(let count)?):
                found.conditions.append(try Parser.place(count, "preceding-sibling::*"))
            case ("nth-last-child", .text(let count)?):
                found.conditions.append(try Parser.place(count, "following-sibling::*"))
            case ("nth-of-type", .text(let count)?) where found.name != "*":
                found.conditions.append(try Parser.place(count, "preceding-sibling::\(found.name)"))
            case ("contains", .text(let words)?): found.conditions.append("contains(., \(literal(words)))")
            case ("not", .compound(let other)?): found.conditions.append("not(self::\(other.step))")
            case ("has", .path(let path)?): found.conditions.append(path)
            default: throw Unsupported(reason: "':\(name)' has no equal in XPath")
            }
        }

        private enum Argument {
            case text(String)
            case compound(Compound)
            case path(String)
        }

        /// Reads what stands between the parentheses of a pseudo-class.
        private mutating func argument(of name: String) throws(Unsupported) -> Argument {
            _ = skipBlanks()
            let argument: Argument
            switch name {
            case "not": argument = .compound(try compound())
            case "has": argument = .path(try take(">") ? path() : ".//" + path())
            default:
                if next == "\"" || next == "'" {
                    argument = .text(try quoted())
                } else {
                    let start = at
                    while let next, next != ")" { at += 1 }
                    argument = .text(String(text[start..<at]).trimmingBlanks)
                }
            }
            _ = skipBlanks()
            guard take(")") else { throw unexpected() }
            return argument
        }

        /// Returns the condition that a place counted from 1 is a number, odd or even.
        private static func place(_ count: String, _ siblings: String) throws(Unsupported) -> String {
            if let number = Int(count), number > 0 { return "count(\(siblings)) = \(number - 1)" }
            if count == "odd" || count == "2n+1" { return "count(\(siblings)) mod 2 = 0" }
            if count == "even" || count == "2n" { return "count(\(siblings)) mod 2 = 1" }
            throw Unsupported(reason: "a place is a number, 'odd' or 'even' here")
        }

        private static func isName(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || "-_\\".contains(character)
        }

        /// Reads an identifier; a backslash escapes the sign behind it.
        private mutating func name() throws(Unsupported) -> String {
            var name = ""
            while let next, Parser.isName(next) {
                at += 1
                if next == "\\" {
                    guard let escaped = self.next, !escaped.isHexDigit else { throw unexpected() }
                    name.append(escaped)
                    at += 1
                } else {
                    name.append(next)
                }
            }
            guard !name.isEmpty else { throw unexpected() }
            return name
        }

        private mutating func quoted() throws(Unsupported) -> String {
            let quote = next
            at += 1
            var words = ""
            while let next, next != quote {
                at += 1
                if next == "\\", let escaped = self.next {
                    words.append(escaped)
                    at += 1
                } else {
                    words.append(next)
                }
            }
            guard next != nil else { throw unexpected() }
            at += 1
            return words
        }

        private func unexpected() -> Unsupported {
            let place = next.map { "'\($0)' at character \(at + 1)" } ?? "its end"
            return Unsupported(reason: "\(place) is no selector that can be read")
        }
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
