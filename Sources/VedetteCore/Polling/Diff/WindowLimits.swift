// SPDX-License-Identifier: Apache-2.0

/// How much is kept of a window: what it shows, and the keys that left it.
extension Differ {
    /// Keys that left a window are remembered this long, and never fewer than `rememberedWindows` windows of them.
    static let remembered = Duration.seconds(30 * 86_400)
    static let rememberedWindows = 5
    /// However busy a window is, no more keys than these are remembered (I8), or than it shows: all that it showed
    /// before may come back.
    static let maximumRemembered = 10_000
    /// A window that is read by increments goes on showing so many items.
    static let maximumShown = 200

    /// The newest of the items that an increment leaves out, as many as there is room for.
    func shown(before since: Timestamp, _ stored: [String: StoredItem], room: Int) -> Set<String> {
        let present = stored.values.filter { $0.absentSince == nil }.compactMap(\.item)
        let older = present.filter { ($0.time ?? since) <= since }
        let newestFirst = older.sorted { ($0.time ?? since, $0.key) > ($1.time ?? since, $1.key) }
        return Set(newestFirst.prefix(max(0, room)).map(\.key))
    }

    /// Drops what left the window long ago, the longest gone first, beyond what five windows hold; and what is too much.
    func forget(_ remembered: [StoredItem], window: Int, in difference: inout Difference) {
        let most = max(window, Differ.maximumRemembered)
        let fewest = min(window * Differ.rememberedWindows, most)
        guard remembered.count > fewest else { return }
        let byAge = remembered.sorted { ($0.absentSince ?? now) < ($1.absentSince ?? now) }
        let surplus = remembered.count - most
        for (i, stored) in byAge.prefix(remembered.count - fewest).enumerated() {
            let isLongAgo = stored.absentSince.map { $0.advanced(by: Differ.remembered) < now } ?? true
            guard i < surplus || isLongAgo else { break }
            difference.deletions.append(stored.key)
        }
    }
}
