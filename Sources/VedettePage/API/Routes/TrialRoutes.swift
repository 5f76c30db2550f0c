// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Trials of an address and of a rule, as `probe` and `test --since` make them. They change nothing, but let the watcher send
/// requests: so each is a POST with the bearer token, which no page of another site can send.
struct TrialRoutes: Sendable {
    static let probe = "/api/v1/probe"
    static let test = "/api/v1/test"

    let trials: TrialService

    var operations: [APIOperation] {
        [
            operation(
                TrialRoutes.probe, "probe", "Request an address, and propose how to watch it, as `probe`",
                body: "AddressQuestion", result: "AddressTrial"
            ) { body throws(APIError) in
                let address = try TrialRoutes.text("address", in: body)
                return try await result { () throws(TrialProblem) in try await trials.address(address).json }
            },
            operation(
                TrialRoutes.test, "test",
                "Play stored events against a rule that is not configured, as `test --since`",
                body: "RuleQuestion", result: "RuleTrial"
            ) { body throws(APIError) in
                let rule = try TrialRoutes.text("rule", in: body)
                let since = try body["since"].map { _ throws(APIError) in try TrialRoutes.text("since", in: body) }
                return try await result { () throws(TrialProblem) in
                    try await trials.rule(rule, since: since ?? TrialService.usualPeriod).json
                }
            },
        ]
    }

    private func operation(
        _ pattern: String, _ name: String, _ summary: String, body: String, result: String,
        _ answer: @escaping @Sendable (JSON) async throws(APIError) -> JSON
    ) -> APIOperation {
        var operation = APIOperation(
            pattern: pattern, name: name, summary: summary,
            responses: [
                .init(contentType: "application/json", description: "The result", schema: result),
                .problem(400, "The body is wrong; the reason"),
                .problem(409, "Another trial is under way"),
                .problem(422, "What is tried does not work; the reason"),
            ]
        ) { request throws(APIError) in
            let json = try await answer(try TrialRoutes.object(request.request.body))
            return .text(json.text + "\n", contentType: "application/json")
        }
        (operation.method, operation.body) = (.post, body)
        return operation
    }

    private func result(_ trial: () async throws(TrialProblem) -> JSON) async throws(APIError) -> JSON {
        do throws(TrialProblem) {
            return try await trial()
        } catch {
            throw error == .busy ? .conflict(error.sentence) : .failed(error.sentence)
        }
    }

    private static func object(_ body: [UInt8]) throws(APIError) -> JSON {
        guard let json = try? JSON(parsing: body), json.members != nil else {
            throw .invalid("the body must be a JSON object")
        }
        return json
    }

    private static func text(_ name: String, in body: JSON) throws(APIError) -> String {
        guard let text = body[name]?.string, !text.isEmpty else {
            throw .invalid("'\(name)' must be a text of at least one character")
        }
        return text
    }
}

extension AddressTrial {
    var json: JSON {
        .members([
            "kind": .string(kind), "summary": .string(summary), "notes": .array(notes.map(JSON.string)),
            "count": .number(count), "items": .array(items.map(\.json)), "yaml": .string(yaml),
        ])
    }
}

extension RuleTrial {
    var json: JSON {
        .members([
            "events": .number(events), "end": end.map { .string($0.rfc3339) },
            "counts": .array(
                counts.map {
                    .members([
                        "rule": .string($0.rule), "sink": .string($0.sink), "sent": .number($0.sent),
                        "suppressed": .number($0.suppressed),
                    ])
                }),
            "messages": .array(
                messages.map {
                    .members([
                        "time": .string($0.time.rfc3339), "rule": .string($0.rule), "sink": .string($0.sink),
                        "title": .string($0.title), "reason": $0.reason.map(JSON.string),
                    ])
                }),
            "waiting": .array(waiting.map(JSON.string)), "notes": .array(notes.map(JSON.string)),
        ])
    }
}
