// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads values by their types. Scalars are read from their text as it is written, so that YAML's types of `on`, `no` and `1.0`
/// do not matter.
struct ValueReader {
    let secrets: SecretReader
    /// The names that templates can use.
    var vocabulary = TemplateVocabulary.message

    var findings: Findings { secrets.findings }

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

    /// Returns the node itself, or the elements of a list, which must not be empty.
    func oneOrMany(_ node: YAMLNode, _ what: String) -> [YAMLNode]? {
        guard node.isList else { return [node] }
        guard let elements = node.elements(what, findings) else { return nil }
        if elements.isEmpty { findings.error(node.place, "\(what) is an empty list; write a value or remove the key") }
        return elements
    }

    /// Reads one text, or each of a list that is one.
    func texts(_ node: YAMLNode, _ what: String) -> [String]? {
        oneOrMany(node, what)?.compactMap { text($0, what) }
    }

    /// Reads a value of a type; nil when it is none, and of a type that another part of the configuration reads.
    func value(_ node: YAMLNode, _ type: OptionType, _ what: String) -> OptionValue? {
        switch type {
        case .text, .line, .url, .flag, .integer, .number, .duration, .size, .choice:
            text(node, what).flatMap { text in
                if let value = type.value(of: text) { return value }
                findings.error(node.place, "\(what) \(type.refusal(of: text))")
                return nil
            }
        case .secret: secrets.secret(node, what).map { .secret($0) }
        case .textOrSecret: value(node, node.isMap ? .secret : .text, what)
        case .oneOrMany(let inner): oneOrMany(node, what).flatMap { list($0, inner, what) }
        case .list(let inner): node.elements(what, findings).flatMap { list($0, inner, what) }
        case .map(let inner): map(node, inner, what)
        case .pattern:
            pattern(node, "in \(what): ") { text throws(PatternError) in .pattern(try RegularExpression(text)) }
        case .template: template(node, what).map { .template($0) }
        case .body: BodyReader(values: self).value(node, what)
        case .headers: .headers(HeaderReader(values: self).headers(node))
        case .tls: .tls(TLSReader(values: self).policy(node))
        case .json: JSONValueReader(values: self).value(node, what).map { .json($0) }
        case .either(let one, _): node.isMap ? nil : value(node, one, what)
        case .object, .matcher, .condition: nil
        }
    }

    /// Compiles a pattern, and reports an error at its place inside the text.
    func pattern<Compiled>(
        _ node: YAMLNode, _ what: String, _ compile: (String) throws(PatternError) -> Compiled
    ) -> Compiled? {
        guard let text = text(node, what) else { return nil }
        do throws(PatternError) {
            return try compile(text)
        } catch {
            findings.error(node.place(ofScalarAt: error.offset ?? 0), "\(what)\(error.detail)")
            return nil
        }
    }

    /// Compiles a template, and reports an error at its place inside the text.
    /// - Parameter replacement: what is read in the place of the node's text.
    func template(_ node: YAMLNode, _ what: String, as replacement: String? = nil) -> (any Template)? {
        guard let text = replacement ?? text(node, what) else { return nil }
        do throws(TemplateError) {
            return try MustacheTemplate(text, names: vocabulary)
        } catch {
            findings.error(node.place(ofLine: error.line, column: error.column), "in \(what): \(error.detail)")
            return nil
        }
    }

    private func list(_ nodes: [YAMLNode], _ type: OptionType, _ what: String) -> OptionValue? {
        let values = nodes.compactMap { node in present(node, what).flatMap { element($0, type, what) } }
        return values.count == nodes.count ? .list(values) : nil
    }

    /// Reads an element of a list, which may be a map with keys of its own.
    private func element(_ node: YAMLNode, _ type: OptionType, _ what: String) -> OptionValue? {
        switch type {
        case .object(let keys): return object(node, keys, what)
        case .either(_, .object(let keys)) where node.isMap: return object(node, keys, what)
        default: return value(node, type, what)
        }
    }

    private func object(_ node: YAMLNode, _ keys: [OptionSpec], _ what: String) -> OptionValue? {
        if let text = node.text, keys.contains(where: \.isRequired), let example = MapReader.example(of: keys) {
            findings.error(
                node.place, "an element of \(what) is a map, not the text '\(text)'; write it as \(example)")
            return nil
        }
        guard let map = MapReader(node, what, keys: keys, self) else { return nil }
        var pairs: [(name: String, value: OptionValue)] = []
        var isGood = true
        for key in keys {
            guard map.has(key.name) else {
                if key.isRequired { isGood = false }
                continue
            }
            if let value = map[key.name] { pairs.append((key.name, value)) } else { isGood = false }
        }
        return isGood ? .map(pairs) : nil
    }

    private func map(_ node: YAMLNode, _ type: OptionType, _ what: String) -> OptionValue? {
        guard let entries = node.entries(what, findings) else { return nil }
        let pairs = entries.compactMap { entry in
            present(entry.value, "'\(entry.name)' of \(what)")
                .flatMap { value($0, type, "'\(entry.name)' of \(what)") }
                .map { (name: entry.name, value: $0) }
        }
        return pairs.count == entries.count ? .map(pairs) : nil
    }

    private func present(_ node: YAMLNode, _ what: String) -> YAMLNode? {
        if node.isAbsent { findings.error(node.place, "\(what) has no value; write one or remove it") }
        return node.isAbsent ? nil : node
    }
}

extension OptionType {
    private static let longest = Duration.seconds(3650 * 86_400)
    private static let sizes = ["KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000]

    /// Whether a text is the whole value, so that it can be read without its place in the configuration.
    var isScalar: Bool {
        switch self {
        case .text, .line, .url, .flag, .integer, .number, .duration, .size, .choice, .secret, .template: true
        default: false
        }
    }

    /// Returns the value that a text is; nil when it is none.
    func value(of text: String) -> OptionValue? {
        switch self {
        case .text: return .text(text)
        case .line: return HTTPSyntax.isFieldValue(text) ? .text(text) : nil
        case .url:
            guard !text.hasUserInfo, let url = WebURL(text), url.authorityProblem == nil else { return nil }
            return .text(url.text)
        case .flag: return text == "true" ? .flag(true) : text == "false" ? .flag(false) : nil
        case .integer(let range): return Int(text).flatMap { range.contains($0) ? .integer($0) : nil }
        case .number: return Double(text).flatMap { $0.isFinite ? .decimal($0) : nil }
        case .duration(let least):
            return Duration(configured: text).flatMap { least <= $0 && $0 <= Self.longest ? .duration($0) : nil }
        case .size:
            let digits = text.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(digits), 1...1_000_000 ~= number,
                let unit = Self.sizes[String(text.dropFirst(digits.count))]
            else { return nil }
            return .integer(number * unit)
        case .choice(let words): return words.contains(text) ? .text(text) : nil
        case .either(let one, _): return one.value(of: text)
        default: return nil
        }
    }

    /// Returns why a text is no value of the type, and what to write, as the end of a sentence.
    func refusal(of text: String) -> String {
        switch self {
        case .line: return "holds a line end or control character; write one line"
        // The URL is not printed: also the user's name may be a token.
        case .url where text.hasUserInfo:
            return "holds a user or password; write 'user' and 'password' of a server instead"
        case .url:
            if let problem = WebURL(text)?.authorityProblem {
                return problem + (text.contains("{{") ? "; a name in double braces must be one of 'each'" : "")
            }
            return "must be an absolute URL as https://host/path" + (text.contains("@") ? "" : ", not '\(text)'")
        case .flag: return "is 'true' or 'false', not '\(text)'"
        case .integer(let range):
            let end = range.upperBound == .max ? "" : " to \(range.upperBound)"
            return "must be a whole number from \(range.lowerBound)\(end), not '\(text)'"
        case .duration(let least):
            if let duration = Duration(configured: text), duration < least {
                return "is at least \(least.configured), not '\(text)'"
            }
            return "must be a duration up to 3650d as '200ms', '15s', '5m', '1h' or '30d', not '\(text)'"
        case .size: return "must be a size as '500MB' or '1GB', not '\(text)'"
        case .choice(let words):
            // Two numbers are always similar as text.
            let meant = text.contains(where: \.isLetter) ? didYouMean(text, among: words) : nil
            let all = words.map { "'\($0)'" }.joined(separator: ", ")
            return "is one of \(all), not \(quoted(text))\(meant ?? "")"
        default: return "must be a number, not '\(text)'"
        }
    }
}

extension String {
    /// Whether it is a URL with a user or password.
    var hasUserInfo: Bool {
        let bytes = Array(utf8)
        guard let colon = bytes.indices.first(where: { bytes[$0...].starts(with: "://".utf8) }) else { return false }
        return bytes[(colon + 3)...].prefix { !"/?#".utf8.contains($0) }.contains(UInt8(ascii: "@"))
    }
}
