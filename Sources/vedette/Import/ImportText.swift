// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteSources

/// Imported entries as YAML, and what to say of them.
struct ImportText {
    /// The configuration: empty where there is nothing new.
    let lines: [String]
    let remarks: [String]

    /// - Parameters:
    ///   - name: the name of the list, for remarks with a line.
    ///   - known: addresses that are watched already.
    ///   - names: names that are taken.
    init(_ list: ImportList, name: String, known: Set<String>, names: NamesInUse) {
        var text = Builder(known: known, names: names)
        for entry in list.entries { text.add(entry, of: name) }
        lines = text.lines
        remarks = [text.summary] + [list.note].compactMap { $0 } + text.remarks
    }

    private struct Builder {
        let known: Set<String>
        let names: NamesInUse
        private var sourceNames: Set<String>
        private var serverNames: Set<String>
        private var servers: [String] = []
        private var sources: [String] = []
        private var written = Set<String>()
        /// The sources of each rule, in the order of the first.
        private var rules: [(news: ImportedSource.News, sources: [String])] = []
        private var failing: [String] = []
        private var count = 0
        private var repeated = 0
        private var areFeeds = true
        private(set) var remarks: [String] = []

        init(known: Set<String>, names: NamesInUse) {
            (self.known, self.names) = (known, names)
            (sourceNames, serverNames) = (names.sources, names.servers)
        }

        mutating func add(_ entry: ImportedEntry, of list: String) {
            let place = entry.line.map { "\(list):\($0): " } ?? ""
            var notes = entry.notes
            if let source = entry.source {
                areFeeds = areFeeds && source.kind == "feed"
                // Several jobs may watch parts of one page.
                guard !known.contains(source.address), written.insert(Builder.identity(source)).inserted else {
                    repeated += 1
                    return
                }
                if let problem = source.problem { notes.append(problem) } else { write(source, &notes) }
            }
            remarks += notes.map { "\(place)\(entry.label): \($0)" }
        }

        private static func identity(_ source: ImportedSource) -> String {
            "\(source.address) \(source.kind) \(source.options.map { "\($0.name) \($0.value)" })"
        }

        // MARK: Sources

        private mutating func write(_ source: ImportedSource, _ notes: inout [String]) {
            let name = proposedName(source)
            sourceNames.insert(name)
            count += 1
            var pairs = ["kind: \(source.kind)"] + place(source, name, &notes)
            pairs += source.options.map { "\($0.name): \(ProposalText.value($0.value))" }
            let headers = headers(source, name, &notes)
            if !headers.isEmpty { pairs.append("headers: {\(headers)}") }
            sources.append("  \(name): {\(pairs.joined(separator: ", ")), every: 30m}")
            if let i = rules.firstIndex(where: { $0.news == source.news }) {
                rules[i].sources.append(name)
            } else {
                rules.append((source.news, [name]))
            }
            if source.tellsFailures { failing.append(name) }
        }

        private func proposedName(_ source: ImportedSource) -> String {
            var url = ""
            if case .url(let address) = source.place { url = address }
            return ProposedName.of(title: source.title, url: url, kind: source.kind, besides: sourceNames)
        }

        private mutating func place(_ source: ImportedSource, _ name: String, _ notes: inout [String]) -> [String] {
            switch source.place {
            case .command(let arguments): return ["command: \(ProposalText.value(.list(arguments)))"]
            case .url(let text):
                guard let login = source.login, let url = WebURL(text) else {
                    return ["url: \(ProposalText.scalar(text))"]
                }
                let server = ProposedName.free(name, besides: serverNames)
                serverNames.insert(server)
                let (noun, secret) =
                    switch login {
                    case .user(let user):
                        ("password", "user: \(ProposalText.scalar(user)), password: {credential: \(server)}")
                    case .token: ("token", "token: {credential: \(server)}")
                    }
                let base = "\(url.scheme)://\(url.authority)"
                servers.append("  \(server): {url: \(ProposalText.scalar(base)), \(secret)}")
                notes.append("left out its \(noun): `vedette login \(server)` asks for it and stores it")
                let path = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?\($0)" } ?? "")
                return ["server: \(server)", "path: \(ProposalText.scalar(path))"]
            }
        }

        private func headers(_ source: ImportedSource, _ name: String, _ notes: inout [String]) -> String {
            source.headers.map { header in
                if let value = header.value {
                    return "\(ProposalText.scalar(header.name)): \(ProposalText.scalar(value))"
                }
                let credential = "\(name)-\(header.name.lowercased())"
                notes.append(
                    "left out the value of \(quoted(header.name)), which is a secret: "
                        + "`vedette login \(credential)` asks for it and stores it")
                return "\(ProposalText.scalar(header.name)): {credential: \(credential)}"
            }.joined(separator: ", ")
        }

        // MARK: The text

        var lines: [String] {
            guard count > 0 else { return [] }
            let sinks = names.sinks.contains(ProposalText.proposedSink) ? [] : ProposalText.sinkLines
            return (servers.isEmpty ? [] : ["servers:"] + servers + [""]) + ["sources:"] + sources + [""] + sinks
                + ["rules:"] + ruleLines
        }

        private var ruleLines: [String] {
            var taken = names.rules
            func rule(_ name: String, _ sources: [String], _ condition: String) -> [String] {
                let name = ProposedName.free(name, besides: taken)
                taken.insert(name)
                return [
                    "  - name: \(name)", "    when: {source: [\(sources.joined(separator: ", "))], \(condition)}",
                ]
            }
            let notify = "    notify: [\(ProposalText.proposedSink)]"
            var lines = rules.flatMap { news, sources in
                switch news {
                case .arrivals: rule("new-entries", sources, "appears: true") + [notify]
                case .rows(true): rule("changed-rows", sources, "any: [{appears: true}, {disappears: true}]") + [notify]
                case .rows(false): rule("new-rows", sources, "appears: true") + [notify]
                case .field("state"): rule("changed-state", sources, "field: state") + [notify]
                case .field(let field): rule("changed-\(field)", sources, "changes: \(field)") + [notify]
                }
            }
            if !failing.isEmpty {
                lines += rule("failures", failing, "source_state: failing") + ["    resolved: true", notify]
            }
            return lines
        }

        var summary: String {
            counted(count, areFeeds && count + repeated > 0 ? "feed" : "source")
                + (repeated > 0 ? "; \(repeated) watched already or listed twice" : "")
        }
    }
}
