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
        if proposal.isOftenEmpty { lines.append("    empty: valid  # an empty list is normal") }
        return lines
    }

    /// The interval of the kind, written out so that it can be changed.
    private var every: String {
        // A page is a page, whatever is read of it.
        let isPage = proposal.options.contains { ["json_ld", "script"].contains($0.name) }
        let kind = isPage ? "html" : proposal.kind
        let seconds = KindRegistry.sourceKinds.first { $0.name == kind }?.every.components.seconds ?? 60
        return seconds % 60 == 0 && seconds > 60 ? "\(seconds / 60)m" : "\(seconds)s"
    }

    private var fieldNames: [String] {
        guard case .map(let pairs) = proposal.options.first(where: { $0.name == "fields" })?.value else { return [] }
        return pairs.map(\.name)
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
            let changes = fieldNames.isEmpty ? "" : ", {changes: [\(fieldNames.joined(separator: ", "))]}"
            let isStateless = fieldNames.isEmpty && proposal.options.contains { $0.name == "key" }
            let remark = isStateless ? "  # no state was found: a change inside of an item is not told" : ""
            lines += [
                "  - name: \(name)-items", "    when:\(remark)", "      source: \(name)",
                "      any: [{appears: true}, {disappears: true}\(changes)]",
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

    /// Returns a value as it stands in a map on one line.
    static func value(_ value: Proposal.Value) -> String {
        switch value {
        case .text(let text): scalar(text)
        case .flag(let flag): "\(flag)"
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
        if isWord, !words.contains(text.lowercased()) { return text }
        // A regular expression is read more easily without doubled signs.
        let isRaw = text.contains("\\") && text.utf8.allSatisfy { $0 >= 32 && $0 != 39 }
        return isRaw ? "'\(text)'" : JSON.string(text).text
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isControl: Bool { [.control, .lineSeparator, .paragraphSeparator].contains(generalCategory) }
}
