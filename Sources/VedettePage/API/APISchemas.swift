// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The schemas of what the API returns.
enum APISchemas {
    private enum Form {
        case text, nonemptyText, whole, number, flag, time, object
        case texts, objects
        case reference(String)
        case list(String)

        var json: JSON {
            switch self {
            case .text: .members(["type": .string("string")])
            case .nonemptyText: .members(["type": .string("string"), "minLength": .number(1)])
            case .whole: .members(["type": .string("integer")])
            case .number: .members(["type": .string("number")])
            case .flag: .members(["type": .string("boolean")])
            case .time: .members(["type": .string("string"), "format": .string("date-time")])
            case .object: .members(["type": .string("object")])
            case .texts: .members(["type": .string("array"), "items": Form.text.json])
            case .objects: .members(["type": .string("array"), "items": Form.object.json])
            case .list(let name): .members(["type": .string("array"), "items": Form.reference(name).json])
            case .reference(let name): .members(["$ref": .string("#/components/schemas/\(name)")])
            }
        }
    }

    static var json: JSON {
        .members([
            "Source": object(
                ["source", "kind", "health", "every"],
                [
                    "source": .text, "kind": .text, "health": .text, "every": .number, "calendar": .text,
                    "items": .whole,
                    "states": .object, "lastPoll": .time, "lastGood": .time, "nextPoll": .time, "connection": .text,
                    "retryAfter": .flag, "since": .time, "failures": .whole, "error": .object, "movedTo": .text,
                    "unannounced": .object, "sharedKeys": .object, "insecure": .flag,
                ]),
            "Item": object(
                ["key"],
                [
                    "key": .text, "title": .text, "state": .text, "url": .text, "time": .time, "fields": .object,
                    "notes": .object, "measures": .object,
                ]),
            "Rule": object(
                ["rule", "notify", "priority"],
                [
                    "rule": .text, "notify": .texts, "priority": .text, "tags": .texts, "waiting": .whole, "due": .time,
                    "warning": .text,
                ]),
            "Delivery": object(
                ["id", "message", "state", "sink", "rule", "created", "due", "attempts", "title", "event"],
                [
                    "id": .whole, "message": .text, "state": .text, "sink": .text, "rule": .text, "created": .time,
                    "due": .time, "attempts": .whole, "title": .text, "reason": .text, "event": .text,
                ]),
            "Silence": object(
                ["id", "created"],
                [
                    "id": .whole, "rule": .text, "source": .text, "item": .text, "where": .texts,
                    "from": .time, "until": .time, "until_state": .text,
                    "sink": .text, "drops": .flag, "created": .time,
                ]),
            "Event": object(
                ["specversion", "id", "source", "type", "time", "datacontenttype", "data"],
                [
                    "specversion": .text, "id": .text, "source": .text, "type": .text, "subject": .text, "time": .time,
                    "datacontenttype": .text, "data": .reference("EventData"),
                ]),
            "EventData": object(
                ["source", "kind", "seq", "poll"],
                [
                    "source": .text, "kind": .text, "seq": .whole, "poll": .text, "item": .reference("Item"),
                    "changes": .objects,
                    "error": .object, "summary": .object,
                ]),
            "AddressQuestion": object(["address"], ["address": .nonemptyText]),
            "AddressTrial": object(
                ["kind", "summary", "notes", "count", "items", "yaml"],
                [
                    "kind": .text, "summary": .text, "notes": .texts, "count": .whole, "items": .list("Item"),
                    "yaml": .text,
                ]),
            "RuleQuestion": object(["rule"], ["rule": .nonemptyText, "since": .nonemptyText]),
            "RuleTrial": object(
                ["events", "counts", "messages", "waiting", "notes"],
                [
                    "events": .whole, "end": .time, "counts": .objects, "messages": .objects, "waiting": .texts,
                    "notes": .texts,
                ]),
            "Problem": object(
                ["title", "status", "detail"], ["title": .text, "status": .whole, "detail": .text]),
        ])
    }

    /// Later versions may add properties.
    private static func object(_ required: [String], _ properties: KeyValuePairs<String, Form>) -> JSON {
        .members([
            "type": .string("object"), "required": .array(required.map(JSON.string)),
            "properties": .object(properties.map { JSON.Member(name: $0.key, value: $0.value.json) }),
        ])
    }
}
