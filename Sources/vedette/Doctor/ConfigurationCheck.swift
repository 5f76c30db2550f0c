// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteConfig
import VedetteCore

/// What reading the configuration came to. Pure.
struct ConfigurationCheck {
    static let most = 20

    let loaded: Loaded

    var findings: [Finding] {
        let errors = loaded.diagnostics.filter { $0.severity == .error }.map {
            Finding.failure("configuration", text(of: $0))
        }
        let warnings = loaded.diagnostics.filter { $0.severity == .warning }.map {
            Finding.warning("configuration", text(of: $0))
        }
        return summary
            + errors.bounded(to: ConfigurationCheck.most, "configuration", remedy: "`vedette check` lists them")
            + warnings.bounded(to: ConfigurationCheck.most, "configuration", remedy: "`vedette check` lists them")
    }

    private func text(of diagnostic: Diagnostic) -> String {
        let place = diagnostic.line == 0 ? "" : ":\(diagnostic.line):\(diagnostic.column)"
        return "\(diagnostic.file)\(place): \(diagnostic.message)"
    }

    private var summary: [Finding] {
        guard let configuration = loaded.configuration else { return [] }
        let counts = [
            counted(configuration.sources.count, "source"), counted(configuration.sinks.count, "sink"),
            counted(configuration.rules.count, "rule"),
        ]
        let files = counted(configuration.files.count, "file")
        var findings = [
            Finding.ok(
                "configuration",
                "\(counts.joined(separator: ", ")) in \(files) of \(loaded.directory ?? "its directory"); "
                    + "every secret can be read")
        ]
        if configuration.sources.isEmpty {
            findings.append(
                .warning(
                    "configuration", "it has no source: nothing is polled", remedy: "`vedette probe URL` writes one"))
        } else if configuration.rules.isEmpty {
            findings.append(
                .warning("configuration", "it has no rule: nothing is said", remedy: "write one under 'rules'"))
        }
        return findings
    }
}

/// What sources need of this machine.
struct SourceNeeds: Sendable {
    /// Different programs.
    var programs: [String] = []
    /// Paths of `file:` sources that cannot be read, by source.
    var unreadable: [(source: String, path: String)] = []

    init(_ sources: [Source]) {
        var seen = Set<String>()
        for source in sources {
            if let program = source.kind.jqProgram, seen.insert(program).inserted { programs.append(program) }
            guard source.url.hasPrefix("file://"), let path = URL(string: source.url)?.path else { continue }
            if !FileManager.default.isReadableFile(atPath: path) { unreadable.append((source.name, path)) }
        }
    }

    /// Compiled, and given nothing to run on. Blocks while jq reads each program, for 25 ms or so.
    func findings(_ transformer: JQTransformer) -> [Finding] {
        let files = unreadable.map { source, path in
            Finding.failure("source \(source)", "\(path) cannot be read", remedy: "check path, owner and mode")
        }
        guard !programs.isEmpty else { return files }
        let problems = Set(programs.prefix(100).compactMap(transformer.problem)).sorted().map {
            Finding.failure("jq", $0)
        }
        let good = Finding.ok("jq", "it takes \(counted(programs.count, "program")) of the sources")
        return files + (problems.isEmpty ? [good] : problems.bounded(to: 5, "jq", remedy: "mend these first"))
    }
}
