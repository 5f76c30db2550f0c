// SPDX-License-Identifier: Apache-2.0

/// Sources by the time at which they are due. Starting, finishing and moving one costs O(log n).
public struct DueQueue: Sendable {
    private struct Entry: Comparable, Sendable {
        var due: BootTime
        var source: Int

        /// Of sources that are due at the same time, the first of the configuration comes first: it gets the stream that is free.
        static func < (a: Entry, b: Entry) -> Bool { (a.due, a.source) < (b.due, b.source) }
    }

    /// By the number of the source; nil while it is polled or not scheduled.
    private var due: [BootTime?] = []
    /// An entry is stale when its source has another due time; the least one never is.
    private var heap = Heap<Entry>()

    /// Creates an empty queue.
    public init() {}

    /// The earliest due time of a source that is not being polled.
    public var next: BootTime? { heap.least?.due }

    /// Returns when the source is due; nil while it is polled or not scheduled.
    public func due(of source: Int) -> BootTime? { source < due.count ? due[source] : nil }

    /// Schedules a source, or moves it.
    /// - Parameter source: its number. Numbers are dense.
    public mutating func schedule(_ source: Int, at time: BootTime) {
        while due.count <= source { due.append(nil) }
        guard due[source] != time else { return }
        due[source] = time
        heap.push(Entry(due: time, source: source))
        removeStale()
    }

    /// Takes out the source that has been due longest; it is not due again until it is scheduled.
    public mutating func startNext(at now: BootTime) -> Int? {
        guard let entry = heap.least, entry.due <= now else { return nil }
        remove(entry.source)
        return entry.source
    }

    /// Takes out a source, if it is scheduled.
    public mutating func remove(_ source: Int) {
        guard due(of: source) != nil else { return }
        due[source] = nil
        removeStale()
    }

    private mutating func removeStale() {
        while let entry = heap.least, due[entry.source] != entry.due { _ = heap.popLeast() }
    }
}
