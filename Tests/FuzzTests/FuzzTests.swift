// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs each reader over its regressions and over mutated inputs.
///
/// `VEDETTE_FUZZ_INPUTS` and `VEDETTE_FUZZ_SEED` in the environment replace the number of inputs (4,000; `contrib/test --all` takes
/// 100,000) and the first seed (1). Input number *n* is made from the seed plus *n*, so the seed in a failure's message with one input
/// repeats it alone. Keep such an input as a file in `Regressions/READER/`.
@Suite("Mutated inputs")
struct FuzzTests {
    @Test("a reader neither crashes nor breaks its promises on mutated inputs", arguments: FuzzReader.all)
    func mutated(reader: FuzzReader) throws {
        let check = try reader.check()
        for file in try regressions(of: reader) {
            if let finding = try? check(Array(try Data(contentsOf: file))) {
                Issue.record("\(reader), \(file.lastPathComponent): \(finding)")
            }
        }
        let environment = ProcessInfo.processInfo.environment
        let count = environment["VEDETTE_FUZZ_INPUTS"].flatMap { UInt64($0) } ?? 4000
        let seed = environment["VEDETTE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
        let (samples, words) = (try reader.samples(), reader.words.map { Array($0.utf8) })
        try #require(!samples.isEmpty)
        let begin = ContinuousClock.now
        for number in 0..<count {
            var mutator = Mutator(seed: seed &+ number)
            let input = mutator.input(from: samples, words: words)
            if let finding = try? check(input) {
                Issue.record("\(reader), seed \(seed &+ number): \(finding): \(Data(input).base64EncodedString())")
                return
            }
        }
        print("fuzz: \(reader), \(count) inputs from seed \(seed) in \(begin.duration(to: .now))")
    }

    @Test("every reader reads some of its good inputs without an error", arguments: FuzzReader.all)
    func samples(reader: FuzzReader) throws {
        let check = try reader.check()
        let read = try reader.samples().count { sample in
            do { return try check(sample) == nil } catch { return false }
        }
        #expect(read > 0)
    }

    private func regressions(of reader: FuzzReader) throws -> [URL] {
        let directory = FuzzReader.tests.appending(path: "FuzzTests/Regressions/\(reader)")
        guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
    }
}
