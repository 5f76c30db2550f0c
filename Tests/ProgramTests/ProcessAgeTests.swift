// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import vedette

@Suite("The age of a process")
struct ProcessAgeTests {
    @Test("it is read from the kernel, and is unknown for a process that is gone")
    func ages() throws {
        let own = try #require(ProcessAge.of(getpid()))
        let first = try #require(ProcessAge.of(1))
        #expect(own >= .zero && own <= first)
        #expect(ProcessAge.of(-1) == nil)
    }
}
