// SPDX-License-Identifier: Apache-2.0

/// In which order a window shows items whose dates decide nothing.
public struct WindowOrder: Sendable, Hashable {
    /// So many keys of its front are remembered.
    static let frontCount = 8

    /// 1 once new items came at the end, -1 once they came at the front, 0 while neither is known.
    var direction = 0
    /// Digests of the first keys; empty where dates decide.
    var front: [UInt64] = []

    /// Whether it shows its newest last.
    var ascends: Bool { direction > 0 }

    /// Creates an unknown order.
    public init() {}

    /// Notes where new items came.
    mutating func came(atEnd: Bool) { direction = max(-1, min(1, direction + (atEnd ? 1 : -1))) }

    /// Returns where an item stood; the greatest number behind the front.
    func place(of key: String) -> Int { front.firstIndex(of: StableHash.of([key])) ?? .max }

    /// Returns whether the items that left stood together at the front.
    func isFront(_ left: [String]) -> Bool {
        let digests = Set(left.map { StableHash.of([$0]) })
        return !left.isEmpty && !front.isEmpty && front.prefix(left.count).allSatisfy(digests.contains)
    }
}
