// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The options that the kinds `json`, `xml` and `html` share. Their summaries say "path" for `json` and "XPath" for the others.
enum ItemOptions {
    /// What is read of an item.
    static func item(_ word: String, _ words: String, title: String) -> [OptionSpec] {
        [
            OptionSpec(
                "title", .oneOrMany(.text),
                "\(word) of an item's title, or a template; of several the first that is not empty.",
                default: title),
            OptionSpec(
                "state", .oneOrMany(.text),
                "\(word) or \(words) of an item's state; several are joined by `/` where they are not empty."),
            OptionSpec(
                "link", .text,
                "\(word) of the address where a person looks at an item, or a template; it may be relative."),
            OptionSpec(
                "time", .text,
                "\(word) of the time an item was last changed: ISO 8601, RFC 2822, or a number since 1970."),
            OptionSpec(
                "fields", .map(.text),
                "Further fields that are compared: name to \(word.lowercasedWord), or to a template."),
            OptionSpec(
                "notes", .map(.text),
                "Fields that are stored and shown, never compared: name to \(word.lowercasedWord), or to a template."),
            OptionSpec(
                "measures", .map(.text), "Numbers that only bounds are compared with: name to \(word.lowercasedWord)."),
            OptionSpec(
                "number", .map(.text),
                "How `fields` and `measures` write numbers: `decimal: \",\"` or `decimal: \".\"`; what is a number becomes a plain one."
            ),
        ]
    }

    /// How a response of status 200 shows that the request failed.
    static func errors(_ word: String, _ words: String) -> [OptionSpec] {
        [
            OptionSpec(
                "require", .map(.oneOrMany(.text)),
                "What a good response contains: \(word.lowercasedWord) to value or values."),
            OptionSpec(
                "error", .oneOrMany(.text),
                "\(word) or \(words) of the text with which a response reports its own failure."),
        ]
    }

    static let encoding = OptionSpec(
        "encoding", .text, "The character encoding, where the server names a wrong one or none.",
        default: "the server's, else UTF-8")

    /// The character encoding that `encoding` names; nil without the option.
    static func encoding(_ options: Options) throws(OptionProblem) -> String? {
        guard let name = options.text("encoding") else { return nil }
        guard PlainText.isEncoding(name) else {
            throw OptionProblem(
                "encoding", detail: "'\(name)' is no character encoding that is known, as windows-1252 or shift_jis is")
        }
        return name
    }

    /// The decimal sign that `number` names; nil without the option.
    static func decimal(_ options: Options) throws(OptionProblem) -> Character? {
        for (name, sign) in options.map("number") {
            guard name == "decimal" else {
                throw OptionProblem("number", name, detail: "'number' has no '\(name)', only 'decimal'")
            }
            guard sign == "," || sign == "." else {
                throw OptionProblem("number", name, detail: "'decimal' is '.' or ',', not '\(sign)'")
            }
            return Character(sign)
        }
        return nil
    }

    static let mode = OptionSpec(
        "mode", .choice(["list", "window"]),
        "`list`: an absent item is gone; `window`: only the newest items are shown.", default: "list")

    /// A stream that neither lists what exists nor reports what is deleted shows only the newest items.
    static func mode(_ options: Options) -> ReadingMode {
        options.text("mode").flatMap(ReadingMode.init(rawValue:)) ?? (options.stream?.isList ?? true ? .list : .window)
    }
}

extension String {
    /// `path` of `Path`; `XPath` stays as it is.
    fileprivate var lowercasedWord: String { hasPrefix("X") ? self : lowercased() }
}

/// The expressions of one kind in the order of their columns, as its options name them.
protocol ItemColumns {
    /// Adds an expression and returns its column.
    ///
    /// - Parameter place: the option, and inside a list or map the place in it, for an error.
    mutating func add(_ text: String, _ place: [String]) throws(OptionProblem) -> Int
}

extension ItemColumns {
    /// Adds the expression of an option that takes one; nil without the option.
    mutating func add(_ options: Options, _ option: String) throws(OptionProblem) -> Int? {
        guard let text = options.text(option) else { return nil }
        return try add(text, [option])
    }

    /// Adds the expressions of an option that takes one or several.
    mutating func add(_ texts: [String], _ option: String) throws(OptionProblem) -> [Int] {
        var columns: [Int] = []
        for text in texts { columns.append(try add(text, [option, text])) }
        return columns
    }
}

extension OptionProblem {
    /// - Parameter place: the option, and inside a list or map the place in it.
    init(at place: [String], _ detail: String) {
        self.init(detail: detail)
        path = place
    }
}
