// SPDX-License-Identifier: Apache-2.0

/// Who is due when: a binary heap over dense source numbers, so that starting, finishing and moving a source cost
/// O(log n).
public struct DueQueue: Sendable {
    private var due: [BootTime] = []
    /// Source numbers as a heap, the earliest due first.
    private var heap: [Int] = []
    /// Where each source stands in the heap; -1 while it is polled or not scheduled.
    private var place: [Int] = []

    public init() {}

    /// The earliest due time of a source that is not being polled.
    public var next: BootTime? { heap.first.map { due[$0] } }

    public func due(of source: Int) -> BootTime? {
        source < place.count && place[source] >= 0 ? due[source] : nil
    }

    /// Schedules a source, or moves it.
    public mutating func schedule(_ source: Int, at time: BootTime) {
        while due.count <= source {
            due.append(time)
            place.append(-1)
        }
        due[source] = time
        if place[source] < 0 {
            place[source] = heap.count
            heap.append(source)
        }
        siftUp(place[source])
        siftDown(place[source])
    }

    /// Takes out the source that has been due longest; it is not due again until it is scheduled.
    public mutating func startNext(at now: BootTime) -> Int? {
        guard let source = heap.first, due[source] <= now else { return nil }
        remove(source)
        return source
    }

    public mutating func remove(_ source: Int) {
        guard source < place.count, place[source] >= 0 else { return }
        let at = place[source]
        place[source] = -1
        let last = heap.removeLast()
        guard last != source else { return }
        heap[at] = last
        place[last] = at
        siftUp(at)
        siftDown(place[last])
    }

    private mutating func siftUp(_ from: Int) {
        var at = from
        while at > 0, due[heap[at]] < due[heap[(at - 1) / 2]] {
            swap(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    private mutating func siftDown(_ from: Int) {
        var at = from
        while true {
            var least = at
            for child in [2 * at + 1, 2 * at + 2] where child < heap.count && due[heap[child]] < due[heap[least]] {
                least = child
            }
            if least == at { return }
            swap(at, least)
            at = least
        }
    }

    private mutating func swap(_ a: Int, _ b: Int) {
        heap.swapAt(a, b)
        place[heap[a]] = a
        place[heap[b]] = b
    }
}
