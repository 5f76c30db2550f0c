// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A parameter of an operation: its check and its documentation.
struct APIParameter: Sendable {
    /// Where a request has it.
    enum Place: String, Sendable {
        case query
        case path
        case header
    }

    /// The values that it takes.
    enum Form: Sendable {
        case text
        case choice([String])
        case number(ClosedRange<Int64>)
        /// RFC 3339.
        case time
    }

    var name: String
    var form: Form
    var place = Place.query
    var isRequired = false
    var description: String

    init(_ name: String, _ form: Form = .text, _ description: String) {
        (self.name, self.form, self.description) = (name, form, description)
    }

    /// A segment of the path.
    static func path(_ name: String, _ description: String) -> APIParameter {
        var parameter = APIParameter(name, description)
        (parameter.place, parameter.isRequired) = (.path, true)
        return parameter
    }

    init(_ name: String, _ description: String) { self.init(name, .text, description) }

    var required: APIParameter {
        var parameter = self
        parameter.isRequired = true
        return parameter
    }

    /// Checks a value.
    func check(_ value: String) throws(APIError) {
        switch form {
        case .text: if value.isEmpty { throw refused("must not be empty") }
        case .choice(let names):
            if !names.contains(value) { throw refused("takes \(names.joined(separator: ", "))") }
        case .number(let range):
            let isNumber = !value.isEmpty && value.utf8.allSatisfy { (48...57).contains($0) }
            guard isNumber, let number = Int64(value), range.contains(number) else {
                throw refused("takes a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
        case .time:
            if Timestamp(rfc3339: value) == nil { throw refused("takes a time such as 2026-11-22T08:23:00Z") }
        }
    }

    private func refused(_ reason: String) -> APIError { .invalid("'\(name)' \(reason)") }

    /// The parameter object of OpenAPI.
    var json: JSON {
        let schema: JSON =
            switch form {
            case .text: .members(["type": .string("string"), "minLength": .number(1)])
            case .choice(let names): .members(["type": .string("string"), "enum": .array(names.map(JSON.string))])
            case .number(let range):
                .members([
                    "type": .string("integer"), "minimum": .number(range.lowerBound),
                    "maximum": .number(range.upperBound),
                ])
            case .time: .members(["type": .string("string"), "format": .string("date-time")])
            }
        return .members([
            "name": .string(name), "in": .string(place.rawValue), "required": .bool(isRequired),
            "description": .string(description), "schema": schema,
        ])
    }
}
