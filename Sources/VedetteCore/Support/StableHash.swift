// SPDX-License-Identifier: Apache-2.0

/// A 64-bit multiply-mix hash that is the same on every run and machine, so it may be stored (`Hasher` is seeded again in
/// each process). It tells bytes apart; it does not resist an adversary who wants two bodies to collide.
public struct StableHash: Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The digest of nothing.
    public init() {}

    /// The digest of everything added so far.
    public var value: UInt64 { StableHash.mix(state, 0xE703_7ED1_A0B4_28DB) }

    /// Adds a number.
    public mutating func add(_ word: UInt64) {
        state = StableHash.mix(state ^ word, 0xA076_1D64_78BD_642F)
    }

    /// Adds a text as UTF-8, with its length.
    public mutating func add(_ text: String) {
        let isWhole: Void? = text.utf8.withContiguousStorageIfAvailable { add(UnsafeRawBufferPointer($0)) }
        if isWhole == nil { Array(text.utf8).withUnsafeBytes { add($0) } }
    }

    /// Adds bytes, with their number.
    public mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var lane = Lane(a: state, b: state ^ 0x8EBC_6AF0_9C88_C6E3)
        var at = 0
        if let start = bytes.baseAddress {
            if bytes.count >= StableHash.long {
                at = bytes.count - bytes.count % 64
                lane.addInFour(start, count: at)
            }
            while at + 16 <= bytes.count {
                lane.add(start + at)
                at += 16
            }
        }
        var tail: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &tail) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[at...])) }
        let (low, high) = (UInt64(littleEndian: tail.0), UInt64(littleEndian: tail.1))
        state = StableHash.mix(low ^ lane.b ^ 0x5899_65CC_7537_4CC3, high ^ lane.a ^ UInt64(bytes.count))
    }

    /// Returns the digest of bytes.
    public static func of(_ bytes: [UInt8]) -> UInt64 {
        var digest = StableHash()
        bytes.withUnsafeBytes { digest.add($0) }
        return digest.value
    }

    /// Returns the digest of texts, each separated from the next.
    public static func of(_ texts: [String]) -> UInt64 {
        var digest = StableHash()
        for text in texts { digest.add(text) }
        return digest.value
    }

    /// Spreads a number over all bits: the finalizer of SplitMix64 (Steele, Lea and Flood: Fast splittable pseudorandom number
    /// generators, 2014).
    public static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The size from which four lanes are faster than one.
    private static let long = 4096

    /// A chain of multiplications. The second word keeps what a multiplication by zero would lose.
    private struct Lane {
        var a: UInt64
        var b: UInt64

        mutating func add(_ low: UInt64, _ high: UInt64) {
            (a, b) = (StableHash.mix(low ^ 0xA076_1D64_78BD_642F, high ^ a), b ^ a)
        }

        mutating func add(_ bytes: UnsafeRawPointer) {
            add(bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }

        /// A multiplication waits for the one before it in its lane, but not for other lanes: four keep a core busy.
        /// - Parameter count: a multiple of 64.
        mutating func addInFour(_ bytes: UnsafeRawPointer, count: Int) {
            var first = self
            var (second, third, fourth) = (Lane(a: a ^ 1, b: b), Lane(a: a ^ 2, b: b), Lane(a: a ^ 3, b: b))
            var at = bytes
            while at < bytes + count {
                first.add(at)
                second.add(at + 16)
                third.add(at + 32)
                fourth.add(at + 48)
                at += 64
            }
            for other in [second, third, fourth] { first.add(other.a, other.b) }
            self = first
        }
    }

    private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (high, low) = a.multipliedFullWidth(by: b)
        return high ^ low
    }
}
