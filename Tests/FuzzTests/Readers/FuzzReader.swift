// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One reader of bytes from servers or users, with good inputs to damage. The mutator of FuzzTests and the program of
/// `contrib/fuzz` run the same readers.
struct FuzzReader: Sendable, CustomStringConvertible {
    /// Reads an input and returns what is wrong with the result; nil when nothing is. An error that the reader throws is no
    /// finding.
    typealias Check = @Sendable ([UInt8]) throws -> String?

    let name: String
    /// What means something to the reader; such words reach further than single bytes.
    let words: [String]
    /// Good inputs.
    let samples: @Sendable () throws -> [[UInt8]]
    /// Makes the check once for many inputs.
    let check: @Sendable () throws -> Check

    var description: String { name }

    init(
        _ name: String, words: [String], samples: @escaping @Sendable () throws -> [[UInt8]],
        check: @escaping @Sendable () throws -> Check
    ) {
        (self.name, self.words, self.samples, self.check) = (name, words, samples, check)
    }

    init(_ name: String, words: [String], texts: [String], check: @escaping @Sendable () throws -> Check) {
        self.init(name, words: words, samples: { texts.map { Array($0.utf8) } }, check: check)
    }

    /// Every reader.
    static let all = documents + expressions + wire + configuration

    static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The files of a directory below `Tests`, without those that are too long to be mutated often.
    static func files(_ path: String, suffixes: [String]) throws -> [[UInt8]] {
        let files = try FileManager.default.contentsOfDirectory(
            at: tests.appending(path: path), includingPropertiesForKeys: nil)
        return try files.sorted { $0.path < $1.path }
            .filter { file in suffixes.contains { file.lastPathComponent.hasSuffix($0) } }
            .map { Array(try Data(contentsOf: $0)) }.filter { (1...4096).contains($0.count) }
    }
}
