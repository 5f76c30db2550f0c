// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Describes the operations of the API as an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.0).
struct OpenAPI: Sendable {
    static let path = "/api/v1/openapi.json"

    let operations: [APIOperation]
    let version: String

    var text: String {
        let paths = operations.map {
            JSON.Member(
                name: $0.pattern,
                value: .object([JSON.Member(name: $0.method == .post ? "post" : "get", value: json($0))]))
        }
        let own = APIOperation(
            pattern: Self.path, name: "openapi", summary: "This document",
            responses: [.init(contentType: "application/json", description: "The document")]
        ) { _ in .text("") }
        let document = JSON.members([
            "openapi": .string("3.1.0"),
            "info": .members([
                "title": .string("Vedette"), "version": .string(version),
                "description": .string(
                    "What a watcher tells programs. Lists are NDJSON: the schema is that of one line."),
                "license": .members(["name": .string("Apache-2.0"), "identifier": .string("Apache-2.0")]),
            ]),
            "servers": .array([.members(["url": .string("/")])]),
            "security": .array([.object([]), .members(["token": .array([])])]),
            "paths": .object(paths + [JSON.Member(name: own.pattern, value: .members(["get": json(own)]))]),
            "components": .members([
                "schemas": APISchemas.json,
                "securitySchemes": .members([
                    "token": .members([
                        "type": .string("http"), "scheme": .string("bearer"),
                        "description": .string("The token of the settings, where there is one"),
                    ])
                ]),
            ]),
        ])
        return document.text + "\n"
    }

    private func json(_ operation: APIOperation) -> JSON {
        var responses = operation.responses
        if !operation.parameters.isEmpty, !responses.contains(where: { $0.status == 400 }) {
            responses.append(.problem(400, "A parameter is wrong; the reason"))
        }
        if responses.contains(where: { $0.contentType.contains("json") }), operation.name != "openapi",
            !responses.contains(where: { $0.status == 503 })
        {
            responses.append(.problem(503, "The journal cannot be read; the reason"))
        }
        // One status may have several content types.
        let statuses = Dictionary(grouping: responses, by: \.status).sorted { $0.key < $1.key }
        let members = statuses.map { status, responses in
            JSON.Member(
                name: "\(status)",
                value: .members([
                    "description": .string(responses.map(\.description).joined(separator: "; ")),
                    "content": .object(responses.map { JSON.Member(name: $0.contentType, value: media($0)) }),
                ]))
        }
        // What the server refuses before it looks for a route: a wrong Host, a wrong token, too many requests.
        let refused = JSON.Member(
            name: "default",
            value: .members([
                "description": .string("The request is refused; the reason"),
                "content": .members(["text/plain": .members(["schema": .members(["type": .string("string")])])]),
            ]))
        let body = operation.body.map { schema -> JSON in
            let reference = JSON.members(["$ref": .string("#/components/schemas/\(schema)")])
            return .members([
                "required": .bool(true),
                "content": .members(["application/json": .members(["schema": reference])]),
            ])
        }
        return .members([
            "operationId": .string(operation.name), "summary": .string(operation.summary),
            "security": operation.method == .post ? .array([.members(["token": .array([])])]) : nil,
            "parameters": operation.parameters.isEmpty ? nil : .array(operation.parameters.map(\.json)),
            "requestBody": body,
            "responses": .object(members + [refused]),
        ])
    }

    private func media(_ response: APIOperation.Response) -> JSON {
        let schema: JSON =
            response.schema.map { .members(["$ref": .string("#/components/schemas/\($0)")]) }
            ?? .members(["type": .string(response.contentType == "application/json" ? "object" : "string")])
        return .members(["schema": schema])
    }
}
