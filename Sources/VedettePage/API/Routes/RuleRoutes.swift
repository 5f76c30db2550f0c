// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Rules and silences, as `status --json` and `silences --json` print them.
struct RuleRoutes: Sendable {
    let api: APIRoutes

    var operations: [APIOperation] {
        [
            APIOperation(
                pattern: "/api/v1/rules", name: "rules", summary: "The rules, and what they wait for",
                responses: [APIRoutes.lines("Rule", "The rules in the order of evaluation")]
            ) { _ throws(APIError) in APIRoutes.respond(try await api.facts().ruleRows) },
            APIOperation(
                pattern: "/api/v1/silences", name: "silences", summary: "The silences in force, as `silences --json`",
                responses: [APIRoutes.lines("Silence", "The silences")]
            ) { _ throws(APIError) in
                let now = api.clock.now().wall
                let all = try await APIRoutes.read { () async throws(JournalError) in
                    try await api.journal.reader().silences()
                }
                return APIRoutes.respond(all.filter { !$0.isOver(at: now) }.map(\.json))
            },
        ]
    }
}
