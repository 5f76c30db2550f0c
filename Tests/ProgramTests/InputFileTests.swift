// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import vedette

@Suite("Files that a person names")
struct InputFileTests {
    @Test("a file that is not there is a failure to read, and no wrong usage")
    func missing() {
        let error = #expect(throws: Exit.self) { try InputFile.bytes("/nowhere/list") }
        #expect(error?.code == .inputOutput && error?.description.contains("No such file") == true)
    }
}
