// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import VedetteSystem

@Suite("The pages of the program's code")
struct ProgramPagesTests {
    @Test("a mapping is known by its line, and code by its rights")
    func mappings() throws {
        typealias Mapping = ProgramPages.Mapping
        for path in ["/usr/bin/a b", "/usr/bin/vedette (deleted)"] {
            let mapping = try #require(Mapping("55d0e000-55d0f000 r-xp 00001000 08:01 42                  \(path)\n"))
            #expect(mapping.range == 0x55d0_e000..<0x55d0_f000 && mapping.isCode && mapping.path == path)
        }
        for rights in ["r--p", "rw-p", "rwxp", "r-xs"] {
            #expect(Mapping("55d0e000-55d0f000 \(rights) 00001000 08:01 42 /usr/bin/vedette\n")?.isCode == false)
        }
        #expect(Mapping("7ffd000-7ffe000 r-xp 00000000 00:00 0 \n")?.path == "")
        for other in ["x-7ffe000 r-xp 0 00:00 0 /a", "Anonymous:             0 kB", "VmFlags: rd ex mr mw me", "", "-"]
        {
            #expect(Mapping(other) == nil, "\(other)")
        }
    }

    @Test("the pages of code in a file are unmapped, unless something wrote to them", arguments: [false, true])
    func release(_ isWritten: Bool) throws {
        let directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
        let path = "\(directory)/vedette-test-code-\(UUID().uuidString)"
        try Data(repeating: 7, count: 1 << 20).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let code = try #require(mmap(nil, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0))
        defer { munmap(code, 1 << 20) }
        if isWritten {
            mprotect(code, 1 << 20, PROT_READ | PROT_WRITE)
            code.storeBytes(of: 8, as: UInt8.self)
            mprotect(code, 1 << 20, PROT_READ | PROT_EXEC)
        }
        func sum() -> Int { UnsafeRawBufferPointer(start: code, count: 1 << 20).reduce(0) { $0 + Int($1) } }
        func resident() throws -> Int {
            // Foundation reads a file of no size in one piece, and this one comes in several.
            let smaps = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps")).readToEnd() ?? Data()
            let parts = String(decoding: smaps, as: UTF8.self).components(separatedBy: path)
            let mapping = try #require(parts.dropFirst().first)
            let line = try #require(mapping.split(separator: "\n").first { $0.hasPrefix("Rss:") })
            return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        }
        let before = sum()
        #expect(try resident() == 1024)
        ProgramPages.release(path)
        #expect(try resident() == (isWritten ? 1024 : 0))
        #expect(sum() == before)
    }
}
