// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Damages good inputs. The same seed gives the same input on every machine.
struct Mutator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 ^ 0xD1B5_4A32_D192_ED03 }

    /// A number from 0 to below `bound` (splitmix64).
    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ (word >> 31)) >> 1) % max(1, bound)
    }

    /// An input with one to six changes: bytes replaced, words inserted once or often, pieces removed, repeated or taken from
    /// another input, and the end cut off.
    ///
    /// - Parameter words: what means something to the reader; they reach further than single bytes.
    mutating func input(from samples: [[UInt8]], words: [[UInt8]]) -> [UInt8] {
        var bytes = samples[next(samples.count)]
        for _ in 0...next(6) {
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

/// Runs one reader over its regressions and over mutated inputs.
///
/// `VEDETTE_FUZZ_INPUTS` and `VEDETTE_FUZZ_SEED` in the environment replace the number of inputs (10,000) and the first seed (1).
/// Input number *n* is made from the seed plus *n*, so the seed in a failure's message with one input repeats it alone. Keep such
/// an input as a file in `Regressions/READER/`.
struct Fuzzer {
    let reader: String
    let samples: [[UInt8]]
    let words: [[UInt8]]

    init(_ reader: String, samples: [[UInt8]], words: [String]) {
        (self.reader, self.samples, self.words) = (reader, samples, words.map { Array($0.utf8) })
    }

    /// - Parameter check: reads an input and returns what is wrong with the result; nil when nothing is. An error that the
    ///   reader throws is no finding.
    func run(_ check: ([UInt8]) throws -> String?) throws {
        for file in try regressions {
            if let finding = try? check(Array(try Data(contentsOf: file))) {
                Issue.record("\(reader), \(file.lastPathComponent): \(finding)")
            }
        }
        let environment = ProcessInfo.processInfo.environment
        let count = environment["VEDETTE_FUZZ_INPUTS"].flatMap { UInt64($0) } ?? 10_000
        let seed = environment["VEDETTE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
        print("fuzz: \(reader), \(count) inputs from seed \(seed)")
        for number in 0..<count {
            var mutator = Mutator(seed: seed &+ number)
            let input = mutator.input(from: samples, words: words)
            if let finding = try? check(input) {
                Issue.record("\(reader), seed \(seed &+ number): \(finding): \(Data(input).base64EncodedString())")
                return
            }
        }
    }

    private var regressions: [URL] {
        get throws {
            let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "Regressions/\(reader)")
            guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
            return try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
                .sorted { $0.path < $1.path }
        }
    }

    /// The files of a directory of the tests, without those that are too long to be mutated often.
    static func files(_ path: String, suffixes: [String]) throws -> [[UInt8]] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = try FileManager.default.contentsOfDirectory(
            at: tests.appending(path: path), includingPropertiesForKeys: nil)
        return try files.sorted { $0.path < $1.path }
            .filter { file in suffixes.contains { file.lastPathComponent.hasSuffix($0) } }
            .map { Array(try Data(contentsOf: $0)) }.filter { (1...4096).contains($0.count) }
    }
}
