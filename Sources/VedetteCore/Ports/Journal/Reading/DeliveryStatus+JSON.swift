// SPDX-License-Identifier: Apache-2.0

extension DeliveryStatus {
    /// What `outbox` prints with --json.
    public var json: JSON {
        .members([
            "id": .number(delivery.id), "message": .string(delivery.message.id), "state": .string(state.rawValue),
            "sink": .string(delivery.message.sink), "rule": .string(delivery.message.rule),
            "created": .string(delivery.created.rfc3339), "due": .string(delivery.due.rfc3339),
            "attempts": .number(delivery.attempts), "title": .string(delivery.message.title),
            "reason": delivery.reason.map(JSON.string), "event": .string(delivery.message.event.id.description),
        ])
    }
}
