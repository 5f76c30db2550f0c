// SPDX-License-Identifier: Apache-2.0

extension Message {
    /// The change that the rule is about, else the state's, else the first.
    public var change: FieldChange? { event.mainChange(of: field) }

    /// The values of the template names for this message.
    public var templateContext: TemplateContext {
        event.templateContext(
            rule: rule, field: field, suppressed: suppressed, group: event.summary?.group,
            acknowledged: event.summary?.acknowledgement?.text(at: event.time))
    }

    /// The event as a CloudEvents 1.0 object with what the rule adds to it: `rule`, `priority`, `tags` and `suppressed` as
    /// extension attributes, and with their own types in `data`.
    public var json: JSON {
        let event = event.json
        guard let members = event.members else { return event }
        let details: JSON = .members([
            "rule": .string(rule), "priority": .string(priority.rawValue), "field": field.map(JSON.string),
            "tags": tags.isEmpty ? nil : .array(tags.map(JSON.string)),
            "suppressed": suppressed == 0 ? nil : .number(suppressed),
        ])
        // CloudEvents 1.0.2 §3: an attribute is a text, a number or a flag, never a list.
        let extensions: JSON = .members([
            "rule": .string(rule), "priority": .string(priority.rawValue),
            "tags": tags.isEmpty ? nil : .string(tags.joined(separator: ",")),
            "suppressed": suppressed == 0 ? nil : .number(suppressed),
        ])
        let data = JSON.object((event["data"]?.members ?? []) + [JSON.Member(name: "message", value: details)])
        return .object(
            members.filter { $0.name != "data" } + (extensions.members ?? [])
                + [JSON.Member(name: "data", value: data)])
    }
}
