// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import VedetteSystem

@Suite("The pages of the program's code")
struct ProgramPagesTests {
    @Test("code from files is what the kernel may take, and nothing that was written or has no file")
    func lines() {
        func code(_ line: String) -> Range<UInt>? { ProgramPages.code(line) }
        for path in [" /usr/bin/a b", "                      /usr/bin/vedette"] {
            #expect(code("55d0e000-55d0f000 r-xp 00001000 08:01 42\(path)\n") == 0x55d0_e000..<0x55d0_f000)
        }
        for other in [
            "55d0e000-55d0f000 r--p 00001000 08:01 42 /usr/bin/vedette",
            "55d0e000-55d0f000 rw-p 00001000 08:01 42 /usr/bin/vedette",
            "55d0e000-55d0f000 rwxp 00001000 08:01 42 /usr/bin/vedette", "7ffd000-7ffe000 r-xp 00000000 00:00 0 [vdso]",
            "7ffd000-7ffe000 r-xp 00000000 00:00 0", "x-7ffe000 r-xp 00000000 00:00 0 /a", "", "-",
        ] { #expect(code(other) == nil, "\(other)") }
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
