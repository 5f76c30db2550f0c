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

    @Test("the program goes on without them")
    func release() throws {
        func resident() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("RssFile:") }
            return try #require(line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
        }
        let before = try resident()
        ProgramPages.release()
        #expect(try resident() < before)
    }
}
