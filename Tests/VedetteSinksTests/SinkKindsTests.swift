// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteDesktop
import VedetteSinks

/// What every kind of sink owes; a new row of the table is tested by being there.
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
                #expect(!(option.isRequired && option.standard != nil), "\(entry.name).\(option.name)")
            }
        }
    }

    @Test("every kind makes a sink from its required options alone")
    func making() throws {
        let services = SinkServices(fetcher: ScriptedFetcher(status: 200), clock: StillClock(), userAgent: "v")
        for entry in SinkKindsTests.all {
            let needed = entry.options.filter(\.isRequired).map { ($0.name, OptionValue.text("https://127.0.0.1/")) }
            _ = try entry.make(Options(Dictionary(uniqueKeysWithValues: needed)))("name", services)
        }
    }
}
