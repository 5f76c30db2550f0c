// SPDX-License-Identifier: Apache-2.0

import VedetteTestSupport

/// Damages good inputs. The same seed gives the same input on every machine.
struct Mutator {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed &* 0x9E37_79B9_7F4A_7C15 ^ 0xD1B5_4A32_D192_ED03) }

    /// A number from 0 to below `bound`.
    mutating func next(_ bound: Int) -> Int { Int(random.next() >> 1) % max(1, bound) }

    /// An input with one to six changes: bytes replaced, words inserted once or often, pieces removed, repeated or taken from
    /// another input, and the end cut off.
    ///
    /// - Parameter words: what means something to the reader; they reach further than single bytes.
    mutating func input(from samples: [[UInt8]], words: [[UInt8]]) -> [UInt8] {
        var bytes = samples[next(samples.count)]
        // The smaller of two: an input with few changes reaches further.
        for _ in 0...min(next(6), next(6)) {
            let at = next(bytes.count + 1)
            let end = min(bytes.count, at + next(40))
            switch next(8) {
            case 0 where at < bytes.count: bytes[at] = UInt8(next(256))
            case 1 where at < bytes.count: bytes[at] ^= 1 << UInt8(next(8))
            case 2: bytes.insert(contentsOf: words[next(words.count)], at: at)
            case 3:
                let word = words[next(words.count)]
                bytes.insert(contentsOf: Array(repeating: word, count: 1 << next(9)).joined(), at: at)
            case 4: bytes.removeSubrange(at..<end)
            case 5: bytes.insert(contentsOf: bytes[at..<end], at: next(bytes.count + 1))
            case 6:
                let other = samples[next(samples.count)]
                let start = next(other.count + 1)
                bytes.insert(contentsOf: other[start..<min(other.count, start + next(200))], at: at)
            default: if next(4) == 0 { bytes.removeSubrange(at...) }
            }
        }
        return bytes
    }
}
