// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Tries a new filter on the items that the last poll stored without one. Bodies are not stored.
enum FilterTrial {
    /// What is wrong with the replacements, each in one sentence.
    /// - Parameter unstored: names whose texts as they were read are not stored.
    static func problems(of filter: TextFilter, with items: [Item], unstored: Set<String>) -> [String] {
        guard !items.isEmpty else { return [] }
        var before = items
        return filter.steps.compactMap { step in
            if let names = step.names, names.isSubset(of: unstored) { return nil }
            // Each is applied to what the ones before it leave.
            var changed = before
            do throws(ReadError) {
                try TextFilter([step]).apply(to: &changed)
            } catch {
                return error.detail
            }
            defer { before = changed }
            if changed != before { return nil }
            return "'\(step.pattern.source)' changes nothing in the \(counted(items.count, "item")) of the last poll; "
                + "check the expression, and 'in'"
        }
    }
}
