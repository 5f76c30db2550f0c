// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSources

/// Renders a proposal as YAML: a source, a sink and a rule that `check` accepts as they are.
struct ProposalText {
    let found: WorkingProposal
    /// The place that is polled: `url`, or `server` and `path`.
    let place: [(key: String, value: String)]
    /// The name of the source; its rule begins with it.
    var name: String
    var userAgent: String?
    var headers: [Header] = []
    /// A sink of the configuration; nil where it has none yet.
    var existingSink: String?
    var remarks: [String] = []

    private var proposal: Proposal { found.proposal }

    var lines: [String] {
        let remarks = (proposal.remarks + remarks).map { "# \(ProposalText.line($0))" }
        let sinks = existingSink == nil ? ProposalText.sinkLines : []
        return ["# \(ProposalText.line(title))"] + remarks + source + [""] + sinks + rule
    }

    /// The name of the sink that is proposed where there is none.
    static let proposedSink = "terminal"
    /// The lines that configure it.
    static let sinkLines = ["sinks:", "  \(proposedSink): {kind: stdout, format: line}", ""]

    /// Returns the sink of a configuration that messages go to: the proposed one if it is there, else the first by name.
    static func sink(among names: Set<String>) -> String? { names.contains(proposedSink) ? proposedSink : names.min() }

    /// The names of rules that the proposal of a source can have.
    static func rules(of source: String) -> [String] {
        ["state", "items", "text", "change", "new"].map { "\(source)-\($0)" }
    }

    private var title: String {
        let count = found.items.count
        return "\(proposal.reason), read by the kind '\(proposal.kind)' as \(count) item\(count == 1 ? "" : "s")"
    }

    private var source: [String] {
        var lines = ["sources:", "  \(name):", "    kind: \(proposal.kind)"]
        lines += place.map { "    \($0.key): \(ProposalText.scalar($0.value))" }
        if let userAgent { lines.append("    user_agent: \(ProposalText.scalar(userAgent))") }
        if !headers.isEmpty {
            let list = headers.map { "\(ProposalText.scalar($0.name)): \(ProposalText.scalar($0.value))" }
            lines.append("    headers: {\(list.joined(separator: ", "))}")
        }
        for option in proposal.options {
            let remark = option.remark.map { "  # \(ProposalText.line($0))" } ?? ""
            lines.append("    \(option.name): \(ProposalText.value(option.value))\(remark)")
        }
        if let stream = proposal.stream { lines.append("    stream: \(ProposalText.value(stream))") }
        lines.append("    every: \(every)")
        if proposal.isOftenEmpty { lines.append("    empty: valid  # the list is empty now") }
        return lines
    }

    /// The interval of the kind, written out so that it can be changed.
    private var every: String {
        let seconds = KindRegistry.sourceKinds.first { $0.name == proposal.kind }?.every.components.seconds ?? 60
        return seconds % 60 == 0 && seconds > 60 ? "\(seconds / 60)m" : "\(seconds)s"
    }

    private var rule: [String] {
        var lines = ["rules:"]
        switch proposal.hint {
        case .state:
            lines += [
                "  - name: \(name)-state",
                "    when: {source: \(name), field: state}  # add 'to: VALUE' for some states",
            ]
        case .presence:
            lines += [
                "  - name: \(name)-items", "    when:", "      source: \(name)",
                "      any: [{appears: true}, {disappears: true}]",
            ]
        case .text:
            lines += ["  - name: \(name)-text", "    when: {source: \(name), changes: text}"]
        case .fields(let names):
            let list = names.map(ProposalText.scalar).joined(separator: ", ")
            lines += ["  - name: \(name)-change", "    when: {source: \(name), changes: [\(list)]}"]
        case .arrivals:
            lines += ["  - name: \(name)-new", "    when: {source: \(name), appears: true}"]
        }
        return lines + ["    notify: [\(ProposalText.scalar(existingSink ?? ProposalText.proposedSink))]"]
    }

    // MARK: Scalars

    /// Returns a text as one line, because a comment ends with its line and a server may send anything.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.isControl ? " " : $0 }).prefix(200))
    }

    private static func value(_ value: Proposal.Value) -> String {
        switch value {
        case .text(let text): scalar(text)
        case .body(let text):
            // The compact form of JSON stands on one line, and is a map or list of YAML.
            (try? JSON(parsing: Array(text.utf8))).flatMap { $0.members != nil || $0.array != nil ? $0.text : nil }
                ?? scalar(text)
        case .list(let texts): "[" + texts.map(scalar).joined(separator: ", ") + "]"
        case .map(let pairs):
            "{" + pairs.map { "\(scalar($0.name)): \(scalar($0.value))" }.joined(separator: ", ") + "}"
        }
    }

    private static func value(_ stream: StreamSettings) -> String {
        let format = stream.format.map { ["format: \($0.rawValue)"] } ?? []
        let only = stream.only.map { condition in
            "\(scalar(condition.path)): [\(condition.values.map(scalar).joined(separator: ", "))]"
        }
        let parts = format + (only.isEmpty ? [] : ["only: {\(only.joined(separator: ", "))}"])
        return parts.isEmpty ? "true" : "{\(parts.joined(separator: ", "))}"
    }

    /// Returns a plain scalar where YAML reads it as that text, else a quoted one; JSON's quotes are YAML's too.
    static func scalar(_ text: String) -> String {
        let isWord =
            text.utf8.allSatisfy {
                ($0 | 0x20 >= 97 && $0 | 0x20 <= 122) || (48...57).contains($0) || "_./".utf8.contains($0)
            }
            && text.unicodeScalars.first.map { $0.properties.isAlphabetic || $0 == "/" } == true
        let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        return isWord && !words.contains(text.lowercased()) ? text : JSON.string(text).text
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isControl: Bool { [.control, .lineSeparator, .paragraphSeparator].contains(generalCategory) }
}

/// Makes a name for a source from its address: the host without its common parts, and the last word of the path.
enum ProposedName {
    /// Returns a name that is not taken, with a number if necessary.
    static func of(_ address: String, kind: String, besides taken: Set<String>) -> String {
        free(of(address, kind: kind), besides: taken)
    }

    /// Returns a name from a title, or from the address where the title has no letter of a name.
    static func of(title: String, url: String, besides taken: Set<String>) -> String {
        let name = slug(title)
        return name.isEmpty ? of(url, kind: "feed", besides: taken) : free(name, besides: taken)
    }

    /// Returns the name, with a number where it is taken.
    static func free(_ name: String, besides taken: Set<String>) -> String {
        guard taken.contains(name) else { return name }
        let number = (2...(taken.count + 2)).first { !taken.contains("\(name)-\($0)") } ?? 2
        return "\(name)-\(number)"
    }

    private static func of(_ address: String, kind: String) -> String {
        let isFile = address.hasPrefix("file://")
        let place = (address.split(separator: "://", maxSplits: 1).last ?? "").prefix { !"?#".contains($0) }
        let host = place.prefix { !"/:".contains($0) }
        var labels = host.split(separator: ".").map(String.init)
        if let last = labels.last, Int(last) == nil, labels.count > 1 { labels.removeLast() }
        labels.removeAll { ["www", "api"].contains($0) }
        // An IP address makes no name.
        if !isFile, labels.allSatisfy({ Int($0) != nil }) { labels = [kind] }
        let file = place.dropFirst(host.count).split(separator: "/").last.map { String($0.prefix { $0 != "." }) } ?? ""
        let words = ["index", "feed", "rss", "atom", "api", "json", "xml", "list", "all"]
        let parts = labels + (words.contains(file.lowercased()) ? [] : [file])
        let name = slug(parts.joined(separator: "-"))
        return name.isEmpty ? kind : name
    }

    private static func slug(_ text: String) -> String {
        let words = text.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return String(words.joined(separator: "-").prefix(50))
    }
}
