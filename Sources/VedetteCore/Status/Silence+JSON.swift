// SPDX-License-Identifier: Apache-2.0

extension Silence {
    /// What `silences` and `status` print with --json.
    public var json: JSON {
        .members([
            "id": .number(id), "rule": rule.map(JSON.string), "source": source.map(JSON.string),
            "item": item.map(JSON.string),
            "where": fields.isEmpty ? nil : .array(fields.map { .string($0.text) }),
            "from": from.map { .string($0.rfc3339) }, "until": until.map { .string($0.rfc3339) },
            "until_state": untilState.map(JSON.string), "sink": sink.map(JSON.string),
            "drops": drops ? .bool(true) : nil, "created": .string(created.rfc3339),
        ])
    }
}
