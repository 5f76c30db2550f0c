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
            "properties": .object(ConfigurationKeys.top.map { $0.member(section($0)) }),
            "additionalProperties": .bool(false),
            "definitions": .members([
                "condition": OptionType.object(ConfigurationKeys.when).schema,
                "value": OptionType.either(.oneOrMany(.text), .object(ConfigurationKeys.matcher)).schema,
            ]),
        ])
    }

    private func section(_ key: OptionSpec) -> JSON {
        switch key.name {
        case "sources": .map(of: kinds(sources.map { ($0.name, $0.options) }, ConfigurationKeys.source))
        case "sinks": .map(of: kinds(sinks.map { ($0.name, $0.options) }, ConfigurationKeys.sink))
        default: key.type.schema
        }
    }

    /// Returns one fragment per kind, distinguished by `kind`.
    private func kinds(_ kinds: [(name: String, options: [OptionSpec])], _ keys: [OptionSpec]) -> JSON {
        .any(
            kinds.map { kind in
                let names = Set(kind.options.map(\.name))
                let common = keys.filter { !names.contains($0.name) }.map { key in
                    key.name == "kind"
                        ? JSON.Member(name: "kind", value: .members(["const": .string(kind.name)]))
                        : key.member(key.type.schema)
                }
                let required = ["kind"] + kind.options.filter(\.isRequired).map(\.name)
                return .object(common + kind.options.map { $0.member($0.type.schema) }, required: required)
            })
    }
}

extension OptionType {
    /// The fragment for the type.
    fileprivate var schema: JSON {
        switch self {
        // Vedette reads every scalar as text, whatever its YAML type.
        case .text, .line, .url, .size, .template, .pattern:
            .members(["type": .array(["string", "number", "boolean"].map(JSON.string))])
        case .flag: .members(["type": .string("boolean")])
        case .integer(let range):
            .members([
                "type": .string("integer"), "minimum": .number(range.lowerBound),
                "maximum": range.upperBound == .max ? nil : .number(range.upperBound),
            ])
        case .number: .members(["type": .string("number")])
        case .duration:
            .members(["type": .string("string"), "pattern": .string("^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$")])
        case .choice(let words): .members(["enum": .array(words.map(JSON.string))])
        case .secret, .textOrSecret: .any([OptionType.text.schema, .members(["type": .string("object")])])
        case .oneOrMany(let inner): OptionType.either(inner, .list(inner)).schema
        case .list(let inner): .members(["type": .string("array"), "items": inner.schema])
        case .map(let inner): .map(of: inner.schema)
        case .headers: OptionType.map(.secret).schema
        case .tls: OptionType.object(ConfigurationKeys.tls).schema
        case .json, .body: .bool(true)
        case .object(let keys):
            .object(keys.map { $0.member($0.type.schema) }, required: keys.filter(\.isRequired).map(\.name))
        case .either(let one, let other): .any([one.schema, other.schema])
        case .matcher: .members(["$ref": .string("#/definitions/value")])
        case .condition: .members(["$ref": .string("#/definitions/condition")])
        }
    }
}

extension OptionSpec {
    /// Returns the member of a schema for the key, with a description that an editor shows.
    fileprivate func member(_ fragment: JSON) -> JSON.Member {
        let text =
            summary + (documentedDefault.map { " Default: \($0)." } ?? "")
            + (deprecation.map { " \($0.sentence(name))." } ?? "")
        // Of draft 2019-09; editors know it in older schemas, too, and others ignore it.
        let mark = deprecation == nil ? [] : [JSON.Member(name: "deprecated", value: .bool(true))]
        return JSON.Member(
            name: name,
            value: .object([JSON.Member(name: "description", value: .string(text))] + mark + (fragment.members ?? [])))
    }
}

extension JSON {
    fileprivate static func any(_ fragments: [JSON]) -> JSON { .members(["anyOf": .array(fragments)]) }

    fileprivate static func map(of fragment: JSON) -> JSON {
        .members(["type": .string("object"), "additionalProperties": fragment])
    }

    fileprivate static func object(_ members: [Member], required: [String]) -> JSON {
        .members([
            "type": .string("object"), "properties": .object(members),
            "required": required.isEmpty ? nil : .array(required.map(JSON.string)),
            "additionalProperties": .bool(false),
        ])
    }
}
