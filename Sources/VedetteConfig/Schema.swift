// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Makes a JSON Schema (draft-07, which most editors support) of the configuration from the tables of the parser. It
/// describes the structure; `vedette check` also validates names, secrets and what each kind requires.
public struct ConfigurationSchema: Sendable {
    private let sources: [SourceKindEntry]
    private let sinks: [SinkKindEntry]

    /// Creates a schema of these kinds.
    public init(sourceKinds: [SourceKindEntry], sinkKinds: [SinkKindEntry]) {
        (sources, sinks) = (sourceKinds, sinkKinds)
    }

    /// The schema.
    public var json: JSON {
        .members([
            "$schema": .string("http://json-schema.org/draft-07/schema#"),
            "title": .string("Vedette's configuration"),
            "type": .string("object"),
            "properties": .object(ConfigurationKeys.top.filter { !$0.isPlanned }.map { member($0, section($0.name)) }),
            "additionalProperties": .bool(false),
            "definitions": .members([
                "condition": object(ConfigurationKeys.when, condition), "value": matcher,
            ]),
        ])
    }

    private func section(_ name: String) -> JSON {
        switch name {
        case "servers": map(of: object(ConfigurationKeys.server, server))
        case "sources": map(of: kinds(sources.map { ($0.name, $0.options) }, ConfigurationKeys.source, source))
        case "sinks": map(of: kinds(sinks.map { ($0.name, $0.options) }, ConfigurationKeys.sink, sink))
        case "windows":
            map(of: object(ConfigurationKeys.window) { $0 == "days" ? Fragment.oneOrMany(Fragment.text) : nil })
        case "rules": Fragment.list(object(ConfigurationKeys.rule, rule))
        default: object(ConfigurationKeys.settings, settings)
        }
    }

    // MARK: Keys with a structure

    private func server(_ key: String) -> JSON? {
        switch key {
        case "tls": object(ConfigurationKeys.tls)
        case "proxy":
            Fragment.any([Fragment.text, object(ConfigurationKeys.proxy) { $0 == "password" ? Fragment.secret : nil }])
        case "rate": object(ConfigurationKeys.rate)
        case "oauth2": object(ConfigurationKeys.oauth2) { $0 == "client_secret" ? Fragment.secret : nil }
        case "aws": object(ConfigurationKeys.aws) { $0 == "secret_key" ? Fragment.secret : nil }
        case "session": object(ConfigurationKeys.session) { $0 == "fields" ? map(of: Fragment.secret) : nil }
        case "password", "token": Fragment.secret
        case "headers", "query": map(of: Fragment.secret)
        default: nil
        }
    }

    private func settings(_ key: String) -> JSON? {
        switch key {
        case "retain": object(ConfigurationKeys.retain)
        case "heartbeat":
            object(ConfigurationKeys.heartbeat) { $0 == "url" || $0 == "token" ? Fragment.secret : nil }
        case "listen":
            Fragment.any([
                Fragment.text,
                object(ConfigurationKeys.listen) { name in
                    switch name {
                    case "token": Fragment.secret
                    case "hosts": Fragment.list(Fragment.text)
                    default: nil
                    }
                },
            ])
        case "journal": object(ConfigurationKeys.journal) { $0 == "password" ? Fragment.secret : nil }
        default: nil
        }
    }

    private func source(_ key: String) -> JSON? {
        switch key {
        case "while": object(ConfigurationKeys.interval)
        case "stream": Fragment.any([Fragment.flag, object(ConfigurationKeys.stream, stream)])
        case "command": Fragment.list(Fragment.text)
        case "headers": map(of: Fragment.secret)
        default: nil
        }
    }

    private func stream(_ key: String) -> JSON? {
        switch key {
        case "only", "delete", "bookmark", "expired": map(of: Fragment.oneOrMany(Fragment.text))
        default: nil
        }
    }

    private func sink(_ key: String) -> JSON? {
        switch key {
        case "rate": object(ConfigurationKeys.rate)
        case "queue": object(ConfigurationKeys.queue)
        default: nil
        }
    }

    private func rule(_ key: String) -> JSON? {
        switch key {
        case "when": Fragment.reference("condition")
        case "notify": notices
        case "quiet": object(ConfigurationKeys.quiet)
        case "limit": object(ConfigurationKeys.limit)
        case "at_least": object(ConfigurationKeys.atLeast)
        case "if", "unless":
            Fragment.oneOrMany(
                object(ConfigurationKeys.sourceCondition) { name in
                    switch name {
                    case "item": map(of: Fragment.reference("value"))
                    case "is": Fragment.reference("value")
                    default: nil
                    }
                })
        case "digest": object(ConfigurationKeys.digest)
        case "remind": object(ConfigurationKeys.remind)
        case "resolved": Fragment.any([Fragment.flag, object(ConfigurationKeys.resolved)])
        case "escalate": Fragment.list(object(ConfigurationKeys.escalation) { $0 == "notify" ? notices : nil })
        case "tests":
            Fragment.list(
                object(ConfigurationKeys.test) { name in
                    switch name {
                    case "change", "appears", "disappears": map(of: Fragment.oneOrMany(Fragment.text))
                    case "expect": Fragment.oneOrMany(Fragment.text)
                    case "given": Fragment.list(map(of: Fragment.text))
                    default: nil
                    }
                })
        default: nil
        }
    }

    private var notices: JSON {
        Fragment.oneOrMany(Fragment.any([Fragment.text, map(of: object(ConfigurationKeys.notice))]))
    }

    private var matcher: JSON {
        Fragment.any([
            Fragment.oneOrMany(Fragment.text),
            object(ConfigurationKeys.matcher) { name in
                switch name {
                case "above", "below": Fragment.number
                case "not": Fragment.reference("value")
                default: nil
                }
            },
        ])
    }

    private func condition(_ key: String) -> JSON? {
        switch key {
        case "item", "where": map(of: Fragment.reference("value"))
        case "from", "to", "stays": Fragment.reference("value")
        case "how_many":
            object(ConfigurationKeys.howMany) { name in
                switch name {
                case "state", "is": Fragment.reference("value")
                default: nil
                }
            }
        case "all", "any": Fragment.list(Fragment.reference("condition"))
        case "not": Fragment.reference("condition")
        default: nil
        }
    }

    // MARK: Fragments

    private func map(of value: JSON) -> JSON {
        .members(["type": .string("object"), "additionalProperties": value])
    }

    private func object(_ keys: [KeySpec], _ deeper: (String) -> JSON? = { _ in nil }) -> JSON {
        Fragment.object(keys, deeper)
    }

    /// Returns one fragment per kind, distinguished by `kind`.
    private func kinds(
        _ kinds: [(name: String, options: [OptionSpec])], _ keys: [KeySpec], _ deeper: (String) -> JSON?
    ) -> JSON {
        Fragment.any(
            kinds.map { kind in
                let names = Set(kind.options.map(\.name))
                let common = keys.filter { !$0.isPlanned && !names.contains($0.name) }.map { key in
                    key.name == "kind"
                        ? JSON.Member(name: "kind", value: .members(["const": .string(kind.name)]))
                        : member(key, deeper(key.name) ?? Fragment.of(words: key.type))
                }
                let own = kind.options.map { option in
                    JSON.Member(
                        name: option.name,
                        value: Fragment.of(option.type).described(option.summary, default: option.documentedDefault))
                }
                let required = ["kind"] + kind.options.filter(\.isRequired).map(\.name)
                return .members([
                    "type": .string("object"), "properties": .object(common + own),
                    "required": .array(required.map(JSON.string)), "additionalProperties": .bool(false),
                ])
            })
    }

    private func member(_ key: KeySpec, _ shape: JSON) -> JSON.Member { Fragment.member(key, shape) }
}

/// Fragments of a schema.
private enum Fragment {
    /// A scalar: Vedette reads every scalar as text, whatever its YAML type.
    static let text = JSON.members(["type": .array(["string", "number", "boolean"].map(JSON.string))])
    static let number = JSON.members(["type": .string("number")])
    static let flag = JSON.members(["type": .string("boolean")])
    static let duration = JSON.members([
        "type": .string("string"), "pattern": .string("^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$"),
    ])
    static let secret = any([text, .members(["type": .string("object")])])

    static func list(_ element: JSON) -> JSON { .members(["type": .string("array"), "items": element]) }
    static func oneOrMany(_ element: JSON) -> JSON { any([element, list(element)]) }
    static func any(_ shapes: [JSON]) -> JSON { .members(["anyOf": .array(shapes)]) }
    static func reference(_ name: String) -> JSON { .members(["$ref": .string("#/definitions/" + name)]) }
    static func choice(_ words: [String]) -> JSON { .members(["enum": .array(words.map(JSON.string))]) }

    static func object(_ keys: [KeySpec], _ deeper: (String) -> JSON? = { _ in nil }) -> JSON {
        let usable = keys.filter { !$0.isPlanned }
        let required = usable.filter(\.isRequired).map { JSON.string($0.name) }
        return .members([
            "type": .string("object"),
            "properties": .object(usable.map { member($0, deeper($0.name) ?? of(words: $0.type)) }),
            "required": required.isEmpty ? nil : .array(required),
            "additionalProperties": .bool(false),
        ])
    }

    static func member(_ key: KeySpec, _ shape: JSON) -> JSON.Member {
        JSON.Member(name: key.name, value: shape.described(key.summary, default: key.documentedDefault))
    }

    /// Returns the fragment for a type in the words of the tables of keys.
    static func of(words: String) -> JSON {
        switch words {
        case "duration": return duration
        case "number": return .members(["type": .string("integer")])
        case "true", "true | false": return flag
        case "map": return .members(["type": .string("object")])
        case "list": return list(text)
        default: break
        }
        let isList = words.hasSuffix("or list")
        let plain = isList ? String(words.dropLast(words.hasSuffix(", or list") ? 9 : 8)) : words
        let choices = plain.split(separator: "|").map { String($0).trimmed() }
        let isChoice = choices.count > 1 && choices.allSatisfy { !$0.contains(" ") && $0 != "field" && $0 != "item" }
        let shape = isChoice ? choice(choices) : text
        return isList ? oneOrMany(shape) : shape
    }

    static func of(_ type: OptionType) -> JSON {
        switch type {
        case .text, .template, .pattern: text
        case .flag: flag
        case .integer(let range):
            .members([
                "type": .string("integer"), "minimum": .number(range.lowerBound),
                "maximum": range.upperBound == .max ? nil : .number(range.upperBound),
            ])
        case .duration: duration
        case .choice(let words): choice(words)
        case .secret, .textOrSecret: secret
        case .oneOrMany(let inner): oneOrMany(of(inner))
        case .list(let inner): list(of(inner))
        case .map(let inner): .members(["type": .string("object"), "additionalProperties": of(inner)])
        case .headers: .members(["type": .string("object"), "additionalProperties": secret])
        case .tls: object(ConfigurationKeys.tls)
        case .json, .body: .bool(true)
        }
    }
}

extension JSON {
    /// Returns the fragment with a description, which an editor shows.
    fileprivate func described(_ summary: String, default: String?) -> JSON {
        let members = self.members ?? []
        let text = summary + (`default`.map { " Default: \($0)." } ?? "")
        return .object([Member(name: "description", value: .string(text))] + members)
    }
}
