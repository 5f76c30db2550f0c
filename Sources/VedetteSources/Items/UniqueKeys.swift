// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The keys of the items of one page, each once.
///
/// Most lists are sorted by their ids or times. While keys of ASCII ascend or descend, by length and then by bytes, none can
/// repeat an earlier one, and no set of them is made: it would cost as much as the rest of an item.
struct UniqueKeys {
    private enum Order {
        case one, ascending, descending, none
    }

    private var order = Order.one
    private var last = ""
    private var keys: Set<String> = []

    /// Adds a key.
    ///
    /// - Parameter items: the items whose keys were added before, in that order.
    /// - Returns: false when it was there already.
    mutating func insert(_ key: String, after items: [Item]) -> Bool {
        if case .none = order { return keys.insert(key).inserted }
        if items.isEmpty, UniqueKeys.isASCII(key) {
            last = key
            return true
        }
        if !items.isEmpty, UniqueKeys.isASCII(key), let next = next(key) {
            (order, last) = (next, key)
            return true
        }
        order = .none
        keys.reserveCapacity(items.count + 1)
        for item in items { keys.insert(item.key) }
        return keys.insert(key).inserted
    }

    /// Returns the order with another key at the end; nil when the keys are in no order then.
    private func next(_ key: String) -> Order? {
        let (count, before) = (key.utf8.count, last.utf8.count)
        let isGreater = count == before ? key > last : count > before
        switch order {
        case .one where key != last: return isGreater ? .ascending : .descending
        case .ascending where isGreater: return .ascending
        case .descending where !isGreater && key != last: return .descending
        default: return nil
        }
    }

    private static func isASCII(_ key: String) -> Bool { key.utf8.allSatisfy { $0 < 0x80 } }
}
