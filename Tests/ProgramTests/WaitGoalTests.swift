// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import vedette

@Suite("What wait waits for")
struct WaitGoalTests {
    private static func item(_ key: String, _ state: String? = nil, title: String? = nil) -> Item {
        var item = Item(key: key)
        item.state = state
        item.title = title
        return item
    }

    private func evaluate(
        _ goal: inout WaitGoal, _ present: [Item], absent: [Item] = [], gone: Set<String> = []
    ) async throws -> WaitGoal.Verdict {
        try await goal.evaluate(present, absent: absent, of: "lab") { gone.contains($0) }
    }

    @Test("of several items all must be in the state, or one with --any")
    func several() async throws {
        let items = [Self.item("1", "Ready"), Self.item("2", "Starting", title: "Billing")]
        var all = WaitGoal(["1", "Billing"], .state(to: ["Ready"], fail: []), isAny: false)
        #expect(try await evaluate(&all, items) == .pending(["Billing: Starting"]))
        #expect(
            try await evaluate(&all, [items[0], Self.item("2", "Ready", title: "Billing")])
                == .reached(["1: Ready", "Billing: Ready"]))
        var any = WaitGoal(["1", "Billing"], .state(to: ["Ready"], fail: []), isAny: true)
        #expect(try await evaluate(&any, items) == .reached(["1: Ready"]))
    }

    @Test(
        "once every name stands for an item, these items alone decide; with a glob, or a name without an item, all do")
    func deciding() async throws {
        let items = [Self.item("1", "Ready"), Self.item("2", "Starting", title: "Billing")]
        var goal = WaitGoal(["1", "Billing"], .state(to: ["Ready"], fail: []), isAny: false)
        #expect(goal.decidingKeys == nil)
        #expect(try await evaluate(&goal, items + [Self.item("3")]) == .pending(["Billing: Starting"]))
        #expect(goal.decidingKeys == ["1", "2"])
        #expect(try await evaluate(&goal, items) == .pending(["Billing: Starting"]))
        #expect(try await evaluate(&goal, [items[0]]) == .failed("Billing: gone"))
        var glob = WaitGoal(["1", "B*"], .state(to: ["Up"], fail: []), isAny: false)
        _ = try await evaluate(&glob, items)
        #expect(glob.decidingKeys == nil)
        var late = WaitGoal(["1", "60"], .appears, isAny: false)
        _ = try await evaluate(&late, items)
        #expect(late.decidingKeys == nil)
    }

    @Test("a state of --fail ends the wait, whichever item is in it")
    func fails() async throws {
        var goal = WaitGoal(["*"], .state(to: ["Ready"], fail: ["Failed"]), isAny: false)
        let items = [Self.item("1", "Ready"), Self.item("2", "Failed", title: "Billing")]
        #expect(try await evaluate(&goal, items) == .failed("2 Billing: Failed"))
    }

    @Test("a glob stands for the items that are there, by key or title, and waits where there is none")
    func globs() async throws {
        var goal = WaitGoal(["web-*"], .state(to: ["up"], fail: []), isAny: false)
        #expect(try await evaluate(&goal, [Self.item("db-1", "up")]) == .pending(["web-*: no such item yet"]))
        let one = Self.item("web-1", "up")
        let two = Self.item("9", "down", title: "web-2")
        #expect(try await evaluate(&goal, [one, two]) == .pending(["9 web-2: down"]))
        #expect(try await evaluate(&goal, [one]) == .failed("9: gone"))
    }

    @Test("an item that one poll did not show is still waited for; one that is gone ends the wait")
    func absent() async throws {
        var goal = WaitGoal(["59"], .state(to: ["Ready"], fail: []), isAny: false)
        let item = Self.item("59", "Starting")
        #expect(try await evaluate(&goal, [], absent: [item]) == .pending(["59: absent from the last poll"]))
        #expect(try await evaluate(&goal, [item]) == .pending(["59: Starting"]))
        #expect(try await evaluate(&goal, []) == .failed("59: gone"))
        var late = WaitGoal(["59"], .state(to: ["Ready"], fail: []), isAny: false)
        #expect(try await evaluate(&late, [], gone: ["59"]) == .failed("59: gone"))
    }

    @Test("--gone ends when no poll shows the item any more, --appears when one does")
    func presence() async throws {
        var gone = WaitGoal(["59"], .gone, isAny: false)
        #expect(try await evaluate(&gone, [Self.item("59", "Ready")]) == .pending(["59: Ready"]))
        #expect(try await evaluate(&gone, []) == .reached(["59: gone"]))
        var appears = WaitGoal(["60"], .appears, isAny: false)
        #expect(try await evaluate(&appears, [], gone: ["60"]) == .pending(["60: no such item yet"]))
        #expect(try await evaluate(&appears, [Self.item("60")]) == .reached(["60: present"]))
    }

    @Test("a name that no item has, or that two have, is refused with the candidates")
    func unknown() async throws {
        let items = [Self.item("1", title: "Portal QA"), Self.item("2", title: "Twin"), Self.item("3", title: "Twin")]
        for (name, part) in [("Portal Q", "did you mean 'Portal QA'?"), ("Twin", "use one of their keys: 2, 3")] {
            var goal = WaitGoal([name], .state(to: ["Ready"], fail: []), isAny: false)
            let error = await #expect(throws: Exit.self) {
                _ = try await goal.evaluate(items, absent: [], of: "lab") { _ in false }
            }
            #expect(error?.description.contains(part) == true)
        }
    }

    @Test("where a time-out ends the wait, an item that is not listed may come, and a wrong name has its guess")
    func notListedYet() async throws {
        let other = Self.item("1", "Ready", title: "Portal QA")
        var goal = WaitGoal(["60", "Portal Q"], .state(to: ["Ready"], fail: []), isAny: false, mayCome: true)
        #expect(
            try await evaluate(&goal, [other])
                == .pending(["60: no such item yet", "Portal Q: no such item yet; did you mean 'Portal QA'?"]))
        let late = [Self.item("60", "Ready"), Self.item("61", "Ready", title: "Portal Q")]
        #expect(try await evaluate(&goal, late) == .reached(["60: Ready", "Portal Q: Ready"]))
        #expect(try await evaluate(&goal, []) == .failed("60: gone"))
        var gone = WaitGoal(["60"], .gone, isAny: false, mayCome: true)
        #expect(try await evaluate(&gone, []) == .reached(["60: not listed"]))
    }

    @Test("what is not listed is gone: --gone ends at once, also for a glob, and a wrong name has its guess")
    func notListed() async throws {
        let other = Self.item("1", "Ready", title: "Portal QA")
        var gone = WaitGoal(["Portal Q", "web-*"], .gone, isAny: false)
        #expect(
            try await evaluate(&gone, [other])
                == .reached(["Portal Q: not listed; did you mean 'Portal QA'?", "web-*: not listed"]))
        var both = WaitGoal(["1", "60"], .gone, isAny: false)
        #expect(try await evaluate(&both, [other]) == .pending(["1: Ready"]))
        #expect(try await evaluate(&both, []) == .reached(["1: gone", "60: not listed"]))
        // A poll that does not show it once may be wrong.
        var absent = WaitGoal(["1"], .gone, isAny: false)
        #expect(try await evaluate(&absent, [], absent: [other]) == .pending(["1: not there"]))
    }

    @Test("an item that a stream has not shown yet may come; only what must be gone has to be there")
    func streamed() async throws {
        var goal = WaitGoal(["1"], .state(to: ["Ready"], fail: []), isAny: false)
        let none = try await goal.evaluate([], absent: [], of: "lab", isWhole: false) { _ in false }
        #expect(none == .pending(["1: no such item yet"]))
        #expect(try await evaluate(&goal, [Self.item("1", "Ready")]) == .reached(["1: Ready"]))
        var gone = WaitGoal(["1"], .gone, isAny: false)
        await #expect(throws: Exit.self) {
            _ = try await gone.evaluate([], absent: [], of: "lab", isWhole: false) { _ in false }
        }
    }
}
