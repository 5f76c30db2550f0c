// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import vedette

@Suite("The options of commands")
struct CommandOptionTests {
    @Test("no command has two options of one name: the parser refuses such a command whatever is typed")
    func names() throws {
        for command in Vedette.configuration.subcommands
            + Vedette.configuration.groupedSubcommands.flatMap(\.subcommands)
        {
            let page = command.helpMessage(includeHidden: true)
            let options = page.matches(of: /(?m)^  (?:-\w, )?(--[a-z-]+)/).map { String($0.1) }
            #expect(options.count == Set(options).count, "\(command): \(options.sorted())")
        }
    }

    @Test("an option that would have no effect without another one is refused")
    func ineffective() throws {
        #expect(throws: (any Error).self) { try TestCommand.parse(["--at", "2026-11-21T12:00:00Z"]) }
        #expect(throws: (any Error).self) { try RunCommand.parse(["--force"]) }
        _ = try TestCommand.parse(["--at", "2026-11-21T12:00:00Z", "--since", "1d"])
    }
}
