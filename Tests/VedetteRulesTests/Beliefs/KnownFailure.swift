// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Gates that the engine gets wrong together: the shortest scenario of each run that fails takes these. The list may only become
/// shorter: a line whose failure is gone fails the test, and so does a failure that has no line.
struct KnownFailure {
    let shape: Scenario.Shape
    /// The runs of the first thousand in which it is found; 0 when only more runs find it.
    let runs: Int

    /// Reads a line: the runs, the property, the gates and a sentence. Returns nil for a comment.
    init?(_ line: Substring) {
        let columns = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard columns.count == 4, let runs = Int(columns[0]), let property = Property(rawValue: columns[1]) else {
            return nil
        }
        let names = columns[2].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let gates = names.compactMap(Gate.init)
        (shape, self.runs) = (Scenario.Shape(property: property, gates: Set(gates)), runs)
    }

    /// Reads `Tests/Fixtures/rules/known-failures.txt`.
    static func all() throws -> [KnownFailure] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: tests.appending(path: "Fixtures/rules/known-failures.txt"), encoding: .utf8)
        return text.split(separator: "\n").compactMap { KnownFailure($0) }
    }
}
