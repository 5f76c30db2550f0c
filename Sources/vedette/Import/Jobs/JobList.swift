// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore

/// The jobs of urlwatch or webchanges: a YAML file with a document for each.
struct JobList {
    let entries: [ImportedEntry]

    /// - Throws: `Exit` where the text is no YAML.
    init(_ text: String, name: String) throws {
        let file = YAMLRecords(text, name: name)
        if let problem = file.diagnostics.first { throw Exit(.data, problem.description) }
        entries = file.records.map { ImportedJob($0.value, line: $0.line).entry }
    }
}
