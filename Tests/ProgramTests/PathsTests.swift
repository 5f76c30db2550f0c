// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import vedette

@Suite("The places of configuration and state")
struct PathsTests {
    @Test("an empty place, as of an unset variable in quotes, is refused", arguments: ["--config", "--state"])
    func empty(option: String) throws {
        let error = #expect(throws: (any Error).self) { try StatusCommand.parse([option, ""]) }
        #expect(error.map { StatusCommand.exitCode(for: $0).rawValue } == Exit.Code.usage.rawValue)
        #expect(error.map { StatusCommand.message(for: $0).contains("\(option) is empty") } == true)
    }

    @Test("an empty end of a copy is refused")
    func emptyEnd() { #expect(throws: Exit.self) { try JournalPlace("", option: "--to") } }

    @Test("empty and relative variables name no state directory")
    func variables() throws {
        let paths = try Paths.parse([])
        let standard = paths.stateDirectory([:])
        for variable in ["STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"] {
            #expect(paths.stateDirectory([variable: ""]) == standard, "\(variable)")
        }
        #expect(paths.stateDirectory(["HOME": "here"]) == standard)
    }
}
