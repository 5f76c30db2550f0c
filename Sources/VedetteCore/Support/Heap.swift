// SPDX-License-Identifier: Apache-2.0

/// A binary heap. The least element is first; each step takes O(log n).
struct Heap<Element: Comparable & Sendable>: Sendable {
    private var elements: [Element] = []

    var least: Element? { elements.first }

    mutating func push(_ element: Element) {
        elements.append(element)
        var at = elements.count - 1
        while at > 0, elements[at] < elements[(at - 1) / 2] {
            elements.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    mutating func popLeast() -> Element? {
        guard let least = elements.first, let last = elements.popLast() else { return nil }
        guard !elements.isEmpty else { return least }
        elements[0] = last
        var at = 0
        while true {
            var lowest = at
            for child in [2 * at + 1, 2 * at + 2] where child < elements.count && elements[child] < elements[lowest] {
                lowest = child
            }
            if lowest == at { return least }
            elements.swapAt(at, lowest)
            at = lowest
        }
    }
}
