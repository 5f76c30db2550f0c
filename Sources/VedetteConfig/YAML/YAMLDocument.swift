// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import Yams

/// Parses one file.
enum YAMLDocument {
    /// Returns the root of a file; nil for an empty file, and for one that is no YAML, which is an error.
    static func root(of file: ConfigurationFile, budget: AliasBudget, _ findings: Findings) -> YAMLNode? {
        parse(file, budget, findings) { try $0.singleRoot() }
    }

    /// Returns the roots of the documents of a file; those before an error, where there is one.
    static func roots(of file: ConfigurationFile, budget: AliasBudget, _ findings: Findings) -> [YAMLNode] {
        var roots: [YAMLNode] = []
        _ = parse(file, budget, findings) { parser in
            while let node = try parser.nextRoot() {
                roots.append(YAMLNode(node: node, source: YAMLSource(file: file, budget: budget)))
            }
            return nil
        }
        return roots
    }

    private static func parse(
        _ file: ConfigurationFile, _ budget: AliasBudget, _ findings: Findings, _ read: (Parser) throws -> Node?
    ) -> YAMLNode? {
        if AliasGuard.isBomb(file.text) {
            findings.error(
                Place(file: file.path, line: 1, column: 1),
                "its aliases (*name) expand too much inside a key; write the text out")
            return nil
        }
        do {
            // The basic resolver reads every scalar as text, without trying patterns for numbers and booleans.
            let parser = try Parser(yaml: file.text, resolver: .basic)
            guard let node = try read(parser) else { return nil }
            return YAMLNode(node: node, source: YAMLSource(file: file, budget: budget))
        } catch {
            report(error, file, findings)
            return nil
        }
    }

    private static func report(_ error: any Error, _ file: ConfigurationFile, _ findings: Findings) {
        switch error as? YamlError {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let place = Place(file: file.path, line: mark.line, column: mark.column)
            findings.error(place, "bad YAML: " + explain(problem, context, mark.line))
        case .duplicatedKeysInMapping(let duplicates, let context):
            let place = Place(file: file.path, line: context.mark.line, column: context.mark.column)
            let names = duplicates.map { "'\($0)'" }.joined(separator: ", ")
            findings.error(place, "\(names) is written twice in this map; keep one")
        case .reader(let problem, let offset, _, _):
            findings.error(place(of: offset ?? 0, in: file), "bad YAML: \(problem); remove the character")
        default:
            findings.error(Place(file: file.path), "bad YAML: it cannot be read")
        }
    }

    /// Returns the message of libyaml with the most common remedy.
    private static func explain(_ problem: String, _ context: YamlError.Context?, _ line: Int) -> String {
        let remedies = [
            (
                "mapping values are not allowed",
                "check the indentation, and that the line above has a space behind its colon; else quote a text that holds ': '"
            ),
            ("did not find expected key", "check the indentation above"),
            ("found character that cannot start any token", "quote the text, and indent with spaces, not tabs"),
            ("did not find expected node content", "a value or a closing bracket is missing"),
            ("found undefined alias", "quote a text that begins with '*'"),
            ("did not find expected alphabetic or numeric character", "quote a text that begins with '*' or '&'"),
            ("but found another document", "write one document per file"),
            ("found unexpected end of stream", "close the quote"),
            ("did not find expected ',' or '}'", "close the brace, or quote a text that holds braces"),
            ("did not find expected ',' or ']'", "close the bracket, or quote a text that holds brackets"),
            ("could not find expected ':'", "write 'key: value', with a space behind the colon"),
        ]
        let remedy = remedies.first { problem.contains($0.0) }.map { "; \($0.1)" } ?? ""
        // The context is useful when it is on another line, as for a bracket that was not closed.
        let since = context.map { $0.mark.line == line ? "" : " (\($0.text), line \($0.mark.line))" } ?? ""
        return (problem.hasPrefix("but ") ? String(problem.dropFirst(4)) : problem) + since + remedy
    }

    private static func place(of offset: Int, in file: ConfigurationFile) -> Place {
        var place = Place(file: file.path, line: 1, column: 1)
        for character in file.text.prefix(offset) {
            if character.isNewline { (place.line, place.column) = (place.line + 1, 1) } else { place.column += 1 }
        }
        return place
    }
}
