// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument
import VedetteSources
import VedetteText

/// How a source reads what a job fetches: a kind with its options, from the job's filters.
struct JobReading {
    /// What is known of the content before it is fetched.
    enum Content {
        case page
        /// The output of a command, or a file whose name tells that it is no page.
        case text
    }

    private(set) var kind = ""
    private(set) var options: [Proposal.Option] = []
    private(set) var news = ImportedSource.News.field("text")
    private(set) var notes: [String] = []

    private var selection: JobSelection?
    private var program: String?
    /// Conditions of a line, as lookaheads of a regular expression.
    private var lines: [String] = []
    private var isUnordered = false
    private var isDigest = false
    private var isBinary = false
    private var isCalendar = false

    /// - Parameter addsAlone: whether only additions matter.
    init(_ filters: [JobFilter], of content: Content, isCommand: Bool, addsAlone: Bool) {
        var content = content
        for filter in filters {
            if filter.name == "html2text" { content = .page }
            read(filter)
        }
        if isCalendar {
            (kind, news) = ("calendar", .rows(removals: true))
            leaveLines("rules choose events by their title")
        } else if let program {
            json(program)
        } else if let selection {
            markup(selection)
        } else if !isCommand, isBinary || (isDigest && lines.isEmpty && !isUnordered) {
            (kind, news) = ("http", .field("body"))
            set("body", .text("compare"))
            leaveLines("a command can print the text of the file")
        } else if content == .text {
            text()
        } else {
            page()
        }
        if addsAlone, case .rows = news { news = .rows(removals: false) }
    }

    private mutating func set(_ name: String, _ value: Proposal.Value) {
        options.append(Proposal.Option(name: name, value: value))
    }

    private mutating func leave(_ filter: String, _ reason: String) {
        notes.append("left out the filter '\(filter)': \(reason)")
    }

    // MARK: Filters

    private mutating func read(_ filter: JobFilter) {
        switch filter.name {
        case let name where JobSelection.filters.contains(name): select(filter)
        // White space and markup are no part of the text that is compared.
        case "html2text", "strip", "striplines", "beautify", "absolute_links", "pretty-xml", "format-xml": break
        case "grep", "keep_lines_containing": line(filter, "?=")
        case "grepi", "delete_lines_containing": line(filter, "?!")
        case "sort", "reverse", "remove-duplicate-lines", "remove_repeated": isUnordered = true
        case "jq": program = filter.text("query", isMain: true)
        case "format-json", "jsontoyaml": program = program ?? "."
        case "sha1sum", "sha256sum", "hexdump", "ascii85", "base64": isDigest = true
        case "ical2text": isCalendar = true
        case "pdf2text", "pypdf", "ocr":
            isBinary = true
            leave(filter.name, "the bytes of the file are compared; for its text read a command that prints it")
        default: leave(filter.name, JobReading.remedies[filter.name] ?? JobReading.remedyOfOthers)
        }
    }

    private static let remedies = [
        "csv2text": "name the columns as groups of 'match' in the kind 'text'",
        "re.sub":
            "'replace' of the source changes texts, as [{regex: '…', with: '…'}], whose groups are $1",
        "re.findall": "'match' of the kind 'text' with a group, as '(?<key>…)', reads parts of lines",
        "shellpipe": "read the output of a command instead: [sh, -c, 'curl -fsS URL | PROGRAM']",
        "execute": "read the output of a command instead: [sh, -c, 'curl -fsS URL | PROGRAM']",
    ]
    private static let remedyOfOthers =
        "it is unknown here; read the output of a command instead: [sh, -c, 'curl -fsS URL | PROGRAM']"

    private mutating func select(_ filter: JobFilter) {
        guard selection == nil else {
            return leave(filter.name, "a source selects once; write both as one XPath in 'select'")
        }
        do throws(JobSelection.Unsupported) {
            selection = try JobSelection(filter)
        } catch {
            leave(filter.name, "\(error.reason); write an XPath into 'select'")
        }
    }

    private mutating func line(_ filter: JobFilter, _ sign: String) {
        let isPlain = filter.name.hasSuffix("_containing") && filter.settings["re"] == nil
        guard let words = filter.text(isPlain ? "text" : "re", isMain: true) else {
            return leave(filter.name, "its expression is missing; write 'match' into the source")
        }
        let pattern = isPlain ? JobReading.quoted(words) : words
        guard (try? RegularExpression(pattern)) != nil, isPlain || !JobReading.refersBack(pattern) else {
            return leave(filter.name, "PCRE2 cannot read its expression here; write 'match' into the source")
        }
        lines.append("(\(sign).*(?:\(pattern)))")
    }

    /// Whether an expression has a back reference, whose number is another one behind further groups.
    private static func refersBack(_ pattern: String) -> Bool { (1...9).contains { pattern.contains("\\\($0)") } }

    /// Returns a text as a regular expression that finds it.
    private static func quoted(_ text: String) -> String {
        text.map { "\\^$.[]|()?*+{}#".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    // MARK: Kinds

    private mutating func json(_ program: String) {
        kind = "json"
        leaveLines("'select(…)' in the jq program picks values")
        if let path = JobReading.plainPath(program) {
            set("fields", .map([.init(name: "value", value: path)]))
            news = .field("value")
        } else if program.contains("[]") {
            // Each output is an item that is its own key.
            set("jq", .text("[\(program)\n| tostring]"))
            news = .rows(removals: true)
        } else {
            leaveOrder("'sort' in the jq program sorts values")
            set("jq", .text("{value: [\(program)\n]}"))
            set("fields", .map([.init(name: "value", value: "value")]))
            news = .field("value")
        }
    }

    /// Returns the path of a program that only names members, as `.a.b`.
    private static func plainPath(_ program: String) -> String? {
        let names = program.trimmed().split(separator: ".", omittingEmptySubsequences: false)
        guard names.count > 1, names[0].isEmpty else { return nil }
        let isPlain = names.dropFirst().allSatisfy { name in
            name.first.map { $0.isASCII && ($0.isLetter || $0 == "_") } == true
                && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        }
        return isPlain ? names.dropFirst().joined(separator: ".") : nil
    }

    private mutating func markup(_ selection: JobSelection) {
        kind = selection.isXML ? "xml" : "html"
        leaveLines("narrow the XPath to them")
        if !selection.namespaces.isEmpty {
            set("namespaces", .map(selection.namespaces.map { .init(name: $0.name, value: $0.value) }))
        }
        if selection.path.result != .nodes {
            set("fields", .map([.init(name: "value", value: selection.path.text)]))
            news = .field("value")
        } else if selection.isXML || selection.isUnordered || isUnordered {
            set("items", .text(selection.path.text))
            set("key", .text("."))
            if selection.isXML { set("title", .text(".")) }
            news = .rows(removals: true)
        } else {
            set("select", .text(selection.path.text))
        }
        if let ignored = selection.ignored { set("ignore", .list([ignored])) }
    }

    private mutating func text() {
        kind = "text"
        guard !lines.isEmpty || isUnordered else { return }
        // The line is the key, so its place does not matter.
        set("match", .text("^" + lines.joined() + ".+$"))
        news = .rows(removals: true)
    }

    private mutating func page() {
        kind = "html"
        leaveLines("name the part of the page that holds them with 'select', or rows of it with 'items'")
        leaveOrder("name the rows of the page with 'items'")
    }

    private mutating func leaveLines(_ remedy: String) {
        if !lines.isEmpty { notes.append("left out the choice of lines: what is read has none; \(remedy)") }
    }

    private mutating func leaveOrder(_ remedy: String) {
        if isUnordered { notes.append("left out the order of lines: what is read has none; \(remedy)") }
    }
}
