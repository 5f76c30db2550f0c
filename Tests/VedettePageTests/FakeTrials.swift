// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

@testable import VedettePage

/// Trials with results that a test sets, and what they were asked.
final class FakeTrials: Trials {
    struct Asked: Hashable {
        var text: String
        var places: Set<String> = []
        var length: Double = 0
    }

    private let asked = Mutex<[Asked]>([])
    private let answer: @Sendable () async throws(TrialProblem) -> AddressTrial
    private let played: RuleTrial

    init(
        rule: RuleTrial = RuleTrial(),
        address: @escaping @Sendable () async throws(TrialProblem) -> AddressTrial = { () throws(TrialProblem) in
            throw .failed("nothing is there")
        }
    ) {
        (played, answer) = (rule, address)
    }

    var questions: [Asked] { asked.withLock { $0 } }

    func address(_ address: String, privateAt places: Set<String>) async throws(TrialProblem) -> AddressTrial {
        asked.withLock { $0.append(Asked(text: address, places: places)) }
        return try await answer()
    }

    func rule(_ yaml: String, from start: Timestamp, to end: Timestamp) async throws(TrialProblem) -> RuleTrial {
        asked.withLock { $0.append(Asked(text: yaml, length: end.seconds(since: start))) }
        return played
    }
}

/// A result whose texts are hostile and longer than is shown.
let hostileTrial = AddressTrial(
    kind: "json", summary: "https://h.example/<x>: 7 bytes", notes: ["<script>note</script>"],
    items: (1...30).map { number in
        Item(
            key: "<b>\(number)</b>", title: String(repeating: "\u{1F600}", count: 500), state: "\u{202E}Ready",
            fields: ["a\"b": "</td>"])
    }, yaml: "sources:\n  x: {url: \"https://h.example/</pre>\"}\n")
