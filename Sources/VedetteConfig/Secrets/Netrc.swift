// SPDX-License-Identifier: Apache-2.0

/// A netrc file, as the manuals of GNU inetutils and curl describe it: `machine NAME`, or `default` at the end, with
/// `login`, `password`, `account` and `macdef` in any order and on any line.
struct Netrc {
    struct Login: Hashable {
        var user: String?
        var password: String?
    }

    /// A syntax error. It never contains a word of the file, which could be a password.
    struct Problem: Error, Hashable {
        var line: Int
        var detail: String
    }

    private var entries: [(machine: String?, login: Login)] = []

    init(_ text: String) throws(Problem) {
        var words = NetrcWords(text)
        while let word = try words.next(isValue: false) {
            switch word {
            case "machine": entries.append((try words.value(of: word), Login()))
            case "default": entries.append((nil, Login()))
            case "login", "password", "account":
                let value = try words.value(of: word)
                guard !entries.isEmpty else {
                    throw Problem(line: words.line, detail: "'\(word)' comes before the first 'machine'")
                }
                if word == "login" { entries[entries.count - 1].login.user = value }
                if word == "password" { entries[entries.count - 1].login.password = value }
            case "macdef":
                _ = try words.value(of: word)
                words.skipMacro()
            default:
                throw Problem(
                    line: words.line,
                    detail: "a word is none of 'machine', 'default', 'login', 'password', 'account', 'macdef'; "
                        + "quote a value that holds blanks")
            }
        }
    }

    /// Returns the first entry of that host, in upper or lower case, or `default`'s when it comes first.
    func login(for host: String) -> Login? {
        entries.first { $0.machine.map { $0.lowercased() == host.lowercased() } ?? true }?.login
    }
}

/// Splits a netrc file into words: separated by white space, or in double quotes with `\"`, `\\`, `\n`, `\r` and `\t`.
private struct NetrcWords {
    private var rest: Substring.UnicodeScalarView
    private(set) var line = 1

    init(_ text: String) { rest = text[...].unicodeScalars }

    /// Returns the next word; nil at the end.
    /// - Parameter isValue: whether a value is expected, which may begin with `#`; elsewhere that begins a comment.
    mutating func next(isValue: Bool) throws(Netrc.Problem) -> String? {
        while let first = rest.first {
            if first == "#", !isValue {
                while let scalar = rest.first, scalar != "\n" { rest.removeFirst() }
            } else if " \t\r\n".unicodeScalars.contains(first) {
                if first == "\n" { line += 1 }
                rest.removeFirst()
            } else {
                return first == "\"" ? try quoted() : plain()
            }
        }
        return nil
    }

    mutating func value(of word: String) throws(Netrc.Problem) -> String {
        let start = line
        guard let value = try next(isValue: true) else {
            throw Netrc.Problem(line: start, detail: "'\(word)' has no value")
        }
        return value
    }

    /// Skips a macro, which ends with an empty line.
    mutating func skipMacro() {
        var isEmpty = false
        while let scalar = rest.popFirst() {
            guard scalar == "\n" else {
                if scalar != "\r" { isEmpty = false }
                continue
            }
            line += 1
            if isEmpty { return }
            isEmpty = true
        }
    }

    private mutating func plain() -> String {
        var word = String.UnicodeScalarView()
        while let scalar = rest.first, !" \t\r\n".unicodeScalars.contains(scalar) {
            word.append(scalar)
            rest.removeFirst()
        }
        return String(word)
    }

    private mutating func quoted() throws(Netrc.Problem) -> String {
        let start = line
        var word = String.UnicodeScalarView()
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(word)
            case "\n": throw Netrc.Problem(line: start, detail: "a quote is not closed on its line")
            case "\\": word.append(NetrcWords.escaped(rest.popFirst() ?? "\\"))
            default: word.append(scalar)
            }
        }
        throw Netrc.Problem(line: start, detail: "a quote is not closed on its line")
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar {
        case "n": "\n"
        case "r": "\r"
        case "t": "\t"
        default: scalar
        }
    }
}
