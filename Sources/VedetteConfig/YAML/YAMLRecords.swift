// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The documents of a YAML file that is no configuration of this program, such as another program's list of jobs.
public struct YAMLRecords: Sendable {
    /// One document.
    public struct Record: Sendable {
        /// The line that it begins at, from 1.
        public let line: Int
        /// An unquoted number, `true`, `false` or `null` is that; every other scalar is a text.
        public let value: JSON
    }

    /// The documents that have content, in the order of the file.
    public let records: [Record]
    /// Why the file cannot be read as a whole; empty where it can.
    public let diagnostics: [Diagnostic]

    /// Reads a text.
    /// - Parameter name: the name of the file, for diagnostics.
    public init(_ text: String, name: String) {
        let findings = Findings()
        let file = ConfigurationFile(path: name, text: text, isPrivate: true)
        let reader = JSONValueReader(
            values: ValueReader(secrets: SecretReader(environment: [:], findings: findings)))
        records = YAMLDocument.roots(of: file, budget: AliasBudget(), findings).compactMap { node in
            node.isAbsent
                ? nil : reader.value(node, "a document").map { Record(line: max(1, node.place.line), value: $0) }
        }
        diagnostics = findings.sorted()
    }
}
