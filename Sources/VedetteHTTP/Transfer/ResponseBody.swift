// SPDX-License-Identifier: Apache-2.0

/// The body of a response while it arrives, within its limit and its share of the memory.
struct ResponseBody {
    /// Why a chunk was not taken.
    enum Refusal {
        case tooLong, noMemory
    }

    /// Bytes of a buffer that is kept for the next hop: there may be hundreds of handles (I8).
    private static let maximumKept = 64 << 10

    private(set) var bytes: [UInt8] = []
    /// Nil until a byte of a body arrives.
    private(set) var memory: MemoryShare?
    /// Bytes that `memory` was asked for.
    private var reserved = 0
    private let budget: MemoryBudget

    init(_ budget: MemoryBudget) { self.budget = budget }

    var count: Int { bytes.count }

    /// - Parameters:
    ///   - limit: bytes of the body at most.
    ///   - promised: the length that the server announced; nil for none.
    ///   - isSlow: whether the host is slow, so that it has a smaller share of the memory.
    mutating func append(_ chunk: UnsafeRawBufferPointer, limit: Int, promised: Int?, isSlow: Bool) -> Refusal? {
        guard bytes.count + chunk.count <= limit else { return .tooLong }
        guard makeRoom(for: bytes.count + chunk.count, limit, promised, isSlow: isSlow) else { return .noMemory }
        bytes.append(contentsOf: chunk)
        return nil
    }

    /// Appends as much of a chunk as the limit allows.
    mutating func fill(_ chunk: UnsafeRawBufferPointer, limit: Int) {
        bytes.append(contentsOf: chunk.prefix(limit - bytes.count))
    }

    /// Grows the buffer, and its share of the memory, to the smallest half, quarter … of the limit that suffices. An array
    /// that grows by itself would be copied into one twice as long as the limit, and for a moment there would be both.
    ///
    /// - Returns: false when there is no memory.
    private mutating func makeRoom(for count: Int, _ limit: Int, _ promised: Int?, isSlow: Bool) -> Bool {
        guard count > reserved else { return true }
        var room = limit
        while room / 2 >= count { room /= 2 }
        let memory = memory ?? budget.share(isSlow: isSlow)
        self.memory = memory
        // A JSON reader wants 64 bytes behind the body.
        guard memory.resize(to: room + 64) else { return false }
        reserved = room
        // The length that the server promises is reserved up to 1 MB, but not counted before it arrives.
        let expected = bytes.isEmpty ? min(promised ?? 0, 1 << 20) : 0
        bytes.reserveCapacity(max(expected, count > bytes.capacity ? room : count) + 64)
        return true
    }

    /// Makes room for a JSON reader behind a body that arrived in one chunk.
    mutating func complete() {
        if bytes.capacity - bytes.count < 64, !bytes.isEmpty { bytes.reserveCapacity(bytes.count + 64) }
    }

    /// Hands over the buffer, so that the body is not copied.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Forgets the bytes; the buffer is kept.
    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    /// Releases the memory.
    mutating func release() {
        (memory, reserved) = (nil, 0)
        if bytes.capacity > ResponseBody.maximumKept { bytes = [] }
    }
}
