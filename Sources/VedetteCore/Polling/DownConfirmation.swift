// SPDX-License-Identifier: Apache-2.0

extension ObservingKind {
    /// Whether an item is down that was not, and too few polls in a row have shown it. The first poll confirms itself.
    /// - Parameters:
    ///   - polls: in a row that found it down, this one among them.
    ///   - fails: polls that are believed.
    public func isUnconfirmed(_ items: [Item], stored: [String: StoredItem], polls: Int, fails: Int) -> Bool {
        guard polls < fails else { return false }
        return items.contains { item in
            isDown(item) && stored[item.key]?.item.map { !isDown($0) } ?? false
        }
    }

    /// Returns the items with the last measures and body fields of those that are down: without them each outage would make
    /// measures cross every threshold again, and outage and recovery would each be a change of the page.
    public func keepingMeasures(_ items: [Item], stored: [String: StoredItem]) -> [Item] {
        items.map { item in
            guard isDown(item), let last = stored[item.key]?.item else { return item }
            var item = item
            for measure in last.measures where item.measures[measure.name] == nil {
                item.measures[measure.name] = measure.value
            }
            for name in bodyFields where item.fields[name] == nil { item.fields[name] = last.fields[name] }
            return item
        }
    }
}
