// SPDX-License-Identifier: Apache-2.0

/// A 64-bit multiply-mix hash that is the same on every run and machine, so it may be stored (`Hasher` is seeded anew in
/// each process). It tells bytes apart; it does not resist an adversary who wants two bodies to collide.
public struct Digest: Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    public init() {}

    public var value: UInt64 { Digest.mix(state, 0xE703_7ED1_A0B4_28DB) }

    public mutating func add(_ word: UInt64) {
        state = Digest.mix(state ^ word, 0xA076_1D64_78BD_642F)
    }

    public mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    public mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var (a, b) = (state, state ^ 0x8EBC_6AF0_9C88_C6E3)
        var at = 0
        while at + 16 <= bytes.count {
            let low = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            let high = bytes.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self)
            (a, b) = (Digest.mix(low ^ 0xA076_1D64_78BD_642F, high ^ a), b ^ a)
            at += 16
        }
        var tail: (UInt64, UInt64) = (0, 0)
        for i in at..<bytes.count {
            let byte = UInt64(bytes[i])
            if i - at < 8 { tail.0 |= byte << (8 * UInt64(i - at)) } else { tail.1 |= byte << (8 * UInt64(i - at - 8)) }
        }
        state = Digest.mix(tail.0 ^ b ^ 0x5899_65CC_7537_4CC3, tail.1 ^ a ^ UInt64(bytes.count))
    }

    public static func of(_ bytes: [UInt8]) -> UInt64 {
        var digest = Digest()
        bytes.withUnsafeBytes { digest.add($0) }
        return digest.value
    }

    private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (high, low) = a.multipliedFullWidth(by: b)
        return high ^ low
    }
}
