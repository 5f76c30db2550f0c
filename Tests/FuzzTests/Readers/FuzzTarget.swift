// SPDX-License-Identifier: Apache-2.0

#if FUZZER
    import Foundation
    import Glibc

    // A program around libFuzzer (https://llvm.org/docs/LibFuzzer.html), which brings its own `main`. `contrib/fuzz` builds and runs it.

    /// Called by libFuzzer before it reads its options.
    @_cdecl("LLVMFuzzerInitialize")
    public func initialize(
        _ count: UnsafeMutablePointer<Int32>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
    ) -> Int32 {
        prepare()
        return 0
    }

    private let reader: FuzzReader = {
        let name = ProcessInfo.processInfo.environment["VEDETTE_FUZZ_READER"] ?? ""
        guard let reader = FuzzReader.all.first(where: { $0.name == name }) else {
            print("no reader '\(name)'; there are: \(FuzzReader.all.map(\.name).joined(separator: ", "))")
            exit(64)
        }
        return reader
    }()

    private let check: FuzzReader.Check = {
        do { return try reader.check() } catch { fatalError("\(reader): \(error)") }
    }()

    /// Writes the good inputs and the words where libFuzzer reads its corpus and its dictionary.
    private func prepare() {
        let directory = URL(filePath: ProcessInfo.processInfo.environment["VEDETTE_FUZZ_DIRECTORY"] ?? ".")
        do {
            for (number, sample) in try reader.samples().enumerated() {
                try Data(sample).write(to: directory.appending(path: "corpus/sample-\(number)"))
            }
            let lines = reader.words.filter { !$0.isEmpty }.map { word in
                "\"" + word.utf8.map { "\\x" + String(0x100 + Int($0), radix: 16).dropFirst() }.joined() + "\"\n"
            }
            try lines.joined().write(to: directory.appending(path: "words"), atomically: true, encoding: .utf8)
        } catch {
            print("\(reader): \(error)")
            exit(74)
        }
    }

    @_cdecl("LLVMFuzzerTestOneInput")
    public func testOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
        if let finding = try? check(Array(UnsafeBufferPointer(start: bytes, count: count))) {
            fatalError("\(reader): \(finding)")
        }
        return 0
    }
#endif
