// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteDesktop
import VedetteSinks

/// Checks every row of the table of kinds; a new row needs no new test.
@Suite("the table of sink kinds")
struct SinkKindsTests {
    static let all = SinkKinds.all + [DesktopKind.entry]

    @Test("names are unique words in lower case")
    func names() {
        #expect(Set(SinkKindsTests.all.map(\.name)).count == SinkKindsTests.all.count)
        for entry in SinkKindsTests.all { #expect(entry.name.allSatisfy { $0.isLowercase && $0.isASCII }) }
    }

    @Test("every kind and option is documented in one sentence")
    func summaries() {
        for entry in SinkKindsTests.all {
            #expect(entry.summary.hasSuffix("."))
            #expect(Set(entry.options.map(\.name)).count == entry.options.count)
            for option in entry.options {
                #expect(option.summary.hasSuffix("."), "\(entry.name).\(option.name)")
                #expect(!(option.isRequired && option.documentedDefault != nil), "\(entry.name).\(option.name)")
            }
        }
    }

    @Test("every kind makes a sink from good options")
    func making() throws {
        let services = SinkServices(fetcher: ScriptedFetcher(status: 200), clock: StillClock(), userAgent: "v")
        for entry in SinkKindsTests.all {
            var options: [String: OptionValue] = ["url": .text("https://127.0.0.1/")]
            if let chat = ChatSample.all.first(where: { $0.kind == entry.name }) { options = chat.options }
            if entry.name == "file" { options = ["path": .text("/tmp/x")] }
            if entry.name == "mail" { options = MailSample.options }
            if entry.name == "command" { options = ["command": .list([.text("true")])] }
            if !entry.options.contains(where: \.isRequired) { options = [:] }
            _ = try entry.make(Options(options))("name", services)
        }
    }
}
