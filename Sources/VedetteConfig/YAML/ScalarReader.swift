// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads scalars from their text as it is written, so that YAML's types of `on`, `no` and `1.0` do not matter.
struct ScalarReader {
    let findings: Findings

    /// Reads a text.
    func text(_ node: YAMLNode, _ what: String) -> String? {
        if let tag = node.foreignTag {
            findings.error(
                node.place, "the tag '\(tag)' has no meaning here; quote the text, or write {env: NAME} for a secret")
            return nil
        }
        guard let text = node.text else {
            findings.error(node.place, "\(what) must be a text, not \(node.noun)\(node.quotingHint)")
            return nil
        }
        return text
    }

    /// Reads one text, or a list of them.
    func texts(_ node: YAMLNode, _ what: String) -> [String]? {
        oneOrMany(node, what)?.compactMap { text($0, what) }
    }

    /// Returns the node itself, or the elements of a list, which must not be empty.
    func oneOrMany(_ node: YAMLNode, _ what: String) -> [YAMLNode]? {
        guard node.isList else { return [node] }
        guard let elements = node.elements(what, findings) else { return nil }
        if elements.isEmpty { findings.error(node.place, "\(what) is an empty list; write a value or remove the key") }
        return elements
    }

    /// Reads `true` or `false`.
    func flag(_ node: YAMLNode, _ what: String) -> Bool? {
        guard let text = text(node, what) else { return nil }
        switch text {
        case "true": return true
        case "false": return false
        default:
            findings.error(node.place, "\(what) is 'true' or 'false', not '\(text)'")
            return nil
        }
    }

    /// Reads a whole number in a range.
    func integer(_ node: YAMLNode, _ what: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(node, what) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let bounds =
                range.upperBound == .max
                ? "from \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            findings.error(node.place, "\(what) must be a whole number \(bounds), not '\(text)'")
            return nil
        }
        return number
    }

    /// Reads a number.
    func number(_ node: YAMLNode, _ what: String) -> Double? {
        guard let text = text(node, what) else { return nil }
        guard let number = Double(text), number.isFinite else {
            findings.error(node.place, "\(what) must be a number, not '\(text)'")
            return nil
        }
        return number
    }

    /// Reads a case of an enumeration by its raw value.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ node: YAMLNode, _ what: String) -> Choice? {
        choice(node, what, among: Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:))
    }

    /// Reads the kind of an event by the last word of its type.
    func choice(_ node: YAMLNode, _ what: String, among kinds: [Event.Kind]) -> Event.Kind? {
        let name = choice(node, what, among: kinds.map(\.word))
        return kinds.first { $0.word == name }
    }

    /// Reads one of several words.
    func choice(_ node: YAMLNode, _ what: String, among choices: [String]) -> String? {
        guard let text = text(node, what) else { return nil }
        guard choices.contains(text) else {
            // Two numbers are always similar as text.
            let word = text.contains(where: \.isLetter) ? suggestion(for: text, among: choices) : nil
            let meant = word.map { "; did you mean '\($0)'?" } ?? ""
            let all = choices.map { "'\($0)'" }.joined(separator: ", ")
            findings.error(node.place, "\(what) is one of \(all), not \(quoted(text))\(meant)")
            return nil
        }
        return text
    }

    /// Reads `200ms`, `15s`, `5m`, `1h`, `30d`.
    func duration(_ node: YAMLNode, _ what: String, atLeast least: Duration = .zero) -> Duration? {
        guard let text = text(node, what) else { return nil }
        guard let duration = Duration(configured: text), duration <= .seconds(3650 * 86_400) else {
            findings.error(
                node.place,
                "\(what) must be a duration up to 3650d as '200ms', '15s', '5m', '1h' or '30d', not '\(text)'")
            return nil
        }
        guard duration >= least else {
            findings.error(node.place, "\(what) is at least \(least.configured), not '\(text)'")
            return nil
        }
        return duration
    }

    private static let sizes: [(unit: String, bytes: Int64)] = [
        ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ]

    /// Reads `500MB` or `1GB` as bytes.
    func size(_ node: YAMLNode, _ what: String) -> Int64? {
        guard let text = text(node, what) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = ScalarReader.sizes.first { $0.unit == text.dropFirst(digits.count) }
        guard let unit, let number = Int64(digits), number > 0, number <= 1_000_000 else {
            findings.error(node.place, "\(what) must be a size as '500MB' or '1GB', not '\(text)'")
            return nil
        }
        return number * unit.bytes
    }
}
