// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Tries new replacements on the items that the last poll stored without them. Bodies are not stored.
enum FilterTrial {
    /// Returns the replacements without which a snapshot was read: one that was added, or the last ones, or all of them. Of
    /// the earlier ones only a digest is stored, so that one in the place of another cannot be told.
    static func added(in source: Source, since head: SnapshotHead) -> [TextFilter.Step] {
        let steps = source.filter.steps
        let single = steps.indices.map { $0..<$0 + 1 }
        let last = steps.indices.map { $0..<steps.endIndex }
        let unchanged = [steps.endIndex..<steps.endIndex]
        let added = (unchanged + single + last).first { range in
            var earlier = source
            earlier.filter.steps.removeSubrange(range)
            return [source.filter.sorts, !source.filter.sorts].contains { sorts in
                earlier.filter.sorts = sorts
                return head.identity == earlier.identity && head.fingerprints == earlier.fingerprints
            }
        }
        return added.map { Array(steps[$0]) } ?? []
    }

    /// What is wrong with the replacements, each in one sentence.
    /// - Parameter unstored: names whose texts as they were read are not stored.
    static func problems(of steps: [TextFilter.Step], with items: [Item], unstored: Set<String>) -> [String] {
        guard !items.isEmpty else { return [] }
        var before = items
        return steps.compactMap { step in
            if let names = step.names, names.isSubset(of: unstored) { return nil }
            // Each is applied to what the ones before it leave.
            var changed = before
            let warnings: [String]
            do throws(ReadError) {
                warnings = try TextFilter([step]).apply(to: &changed)
            } catch {
                return error.detail
            }
            defer { before = changed }
            if changed != before { return warnings.first }
            return "'\(step.pattern.source)' changes nothing in the \(counted(items.count, "item")) of the last poll; "
                + "check the expression, and 'in'"
        }
    }
}
