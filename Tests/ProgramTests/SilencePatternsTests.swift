// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import vedette

@Suite("--where of snooze and mute")
struct SilencePatternsTests {
    private func patterns(_ texts: String...) -> [Silence.FieldPattern] { texts.compactMap(Silence.FieldPattern.init) }

    @Test("a field that the kinds of all sources lack is refused with the known ones")
    func fields() {
        func problem(_ text: String, _ fields: [[String]?]) -> String? {
            SilencePatterns.problem(with: patterns("state=down", text), fields: fields)
        }
        #expect(problem("ownr=a", [["owner"], ["author"]]) == "no item has the field 'ownr'; did you mean 'owner'?")
        #expect(
            problem("zone=eu", [["owner"]])
                == "no item has the field 'zone'; the fields are key, name, owner, state, title, url")
        #expect(problem("owner=a", [["owner"], ["author"]]) == nil)
        #expect(problem("zone=eu", [["owner"], nil]) == nil, "only the server knows")
        #expect(problem("zone=eu", []) == nil)
    }

    @Test("values that no item has now are warned of, since one may come")
    func values() {
        let items = [Item(key: "a1", state: "up"), Item(key: "b1", state: "down", notes: ["zone": .text("eu")])]
        func warning(_ texts: [Silence.FieldPattern], _ items: [Item]) -> String? {
            SilencePatterns.warning(about: texts, among: items)
        }
        #expect(warning(patterns("key=a*", "state=up"), items) == nil)
        #expect(
            warning(patterns("key=a*", "state=down"), items)
                == "none of the 2 items fits --where 'key=a*' with --where 'state=down' now")
        #expect(warning(patterns("zones=eu"), items) == "no item has the field 'zones'; did you mean 'zone'?")
        #expect(warning(patterns("zone=*"), items) == nil)
        #expect(warning(patterns("zones=eu"), []) == nil)
    }
}
