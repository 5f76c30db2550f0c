// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Tries a new filter on the items that the last poll stored without one. Bodies are not stored.
enum FilterTrial {
    /// What is wrong with the replacements, each in one sentence.
    /// - Parameter unstored: names whose texts as they were read are not stored.
    static func problems(of filter: TextFilter, with items: [Item], unstored: Set<String>) -> [String] {
        guard !items.isEmpty else { return [] }
        return filter.steps.compactMap { step in
            if let names = step.names, names.isSubset(of: unstored) { return nil }
            var changed = items
            do throws(ReadError) {
                try TextFilter([step]).apply(to: &changed)
            } catch {
                return error.detail
            }
            if changed != items { return nil }
            return "'\(step.pattern.source)' changes nothing in the \(counted(items.count, "item")) of the last poll; "
                + "check the expression, and 'in'"
        }
    }
}
