// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The body of a webhook: the event in one of the forms of CloudEvents, or the user's own.
enum WebhookBody: Sendable {
    /// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md §3
    enum Mode: String, Sendable, CaseIterable {
        /// Attributes and data in one JSON object.
        case structured
        /// The data alone; the attributes are headers.
        case binary
        /// An array of one event, for receivers that take nothing else.
        case batch
    }

    case event(Mode)
    /// JSON whose strings are templates; it is valid whatever they render.
    case json(BodyTemplate)
    case text(any Template, Format)

    /// A rendered body: its media type, the headers that belong to it, and its bytes.
    struct Content: Sendable {
        var type: String
        var headers: [Header] = []
        var bytes: [UInt8]
    }

    func content(_ message: Message) throws(MessageError) -> Content {
        let context = message.templateContext
        switch self {
        case .event(let mode): return WebhookBody.content(message.json, mode)
        case .json(let template):
            return Content(type: Format.json.mediaType, bytes: template.render(context).bytes)
        case .text(let template, let format):
            guard format == .json else {
                let text = template.render(context.escaped(format.escape))
                return Content(type: format.mediaType, bytes: Array(text.utf8))
            }
            guard let bytes = JSONText.render(template, context) else {
                throw MessageError(message: "the body's template makes no JSON of this event")
            }
            return Content(type: format.mediaType, bytes: bytes)
        }
    }

    private static func content(_ event: JSON, _ mode: Mode) -> Content {
        switch mode {
        case .structured: return Content(type: "application/cloudevents+json; charset=utf-8", bytes: event.bytes)
        case .batch:
            let type = "application/cloudevents-batch+json; charset=utf-8"
            return Content(type: type, bytes: JSON.array([event]).bytes)
        case .binary:
            let inBody = ["data", "datacontenttype"]
            let headers = (event.members ?? []).compactMap { member -> Header? in
                guard !inBody.contains(member.name),
                    let text = member.value.string ?? member.value.int64.map(String.init)
                else { return nil }
                let value = headerValue(text)
                // It is optional, and in the data too: an untrusted key must not exceed the receiver's header limit.
                return value.utf8.count <= 2048 ? Header("ce-" + member.name, value) : nil
            }
            let type = event["datacontenttype"]?.string ?? Format.json.mediaType
            return Content(type: type, headers: headers, bytes: (event["data"] ?? .null).bytes)
        }
    }

    /// Percent-encodes the space, `"`, `%` and everything but printable ASCII (§3.1.3.2).
    private static func headerValue(_ text: String) -> String {
        text.utf8.reduce(into: "") { out, byte in
            if (33...126).contains(byte), byte != 0x22, byte != 0x25 {
                out.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                out += WebURL.encoded(byte)
            }
        }
    }
}

/// How values are escaped in a body that is a text, so that they cannot change its structure.
enum Format: String, Sendable, CaseIterable {
    case json, xml, form, text

    var mediaType: String {
        switch self {
        case .json: "application/json"
        case .xml: "application/xml; charset=utf-8"
        case .form: "application/x-www-form-urlencoded"
        case .text: "text/plain; charset=utf-8"
        }
    }

    func escape(_ value: String) -> String {
        switch self {
        case .json: String(JSON.string(value).text.dropFirst().dropLast())
        case .xml: XMLEscape.text(value)
        case .form: WebURL.encoded(value)
        case .text: value
        }
    }
}

/// The user's own JSON body as a tree whose strings are templates, so that values cannot leave their strings.
indirect enum BodyTemplate: Sendable {
    case constant(JSON)
    case text(any Template)
    /// A template that is one tag: `null` for an event without that value.
    case value(any Template, name: String)
    /// The number in the text of a template, as rules read it; `null` for a text without one.
    case number(any Template)
    case list([BodyTemplate])
    case map([(name: String, value: BodyTemplate)])

    /// Returns nil for an option that has no place in a body.
    init?(_ value: OptionValue) {
        switch value {
        case .template(let template):
            let mark = "\u{1}"
            let isOneTag = template.names.count == 1 && template.render(TemplateContext { _ in .text(mark) }) == mark
            self = isOneTag ? .value(template, name: template.names.first ?? "") : .text(template)
        case .number(let template): self = .number(template)
        case .text(let text): self = .constant(.string(text))
        case .flag(let flag): self = .constant(.bool(flag))
        case .integer(let number): self = .constant(.number(number))
        case .json(let json): self = .constant(json)
        case .list(let values):
            let parts = values.compactMap(BodyTemplate.init)
            guard parts.count == values.count else { return nil }
            self = .list(parts)
        case .map(let pairs):
            let parts = pairs.compactMap { pair in BodyTemplate(pair.value).map { (name: pair.name, value: $0) } }
            guard parts.count == pairs.count else { return nil }
            self = .map(parts)
        default: return nil
        }
    }

    func render(_ context: TemplateContext) -> JSON {
        switch self {
        case .constant(let json): json
        case .text(let template): .string(template.render(context))
        case .value(let template, let name): context[name] == nil ? .null : .string(template.render(context))
        case .number(let template): JSON(number: WrittenNumber(template.render(context)))
        case .list(let parts): .array(parts.map { $0.render(context) })
        case .map(let parts): .object(parts.map { JSON.Member(name: $0.name, value: $0.value.render(context)) })
        }
    }
}

extension JSON {
    /// Keeps the digits as they are written; `007` is none in JSON.
    fileprivate init(number: WrittenNumber?) {
        let plain = number?.plain ?? ""
        self = (try? JSON(parsing: plain.utf8)) ?? Double(plain).map(JSON.number(rounded:)) ?? .null
    }
}
