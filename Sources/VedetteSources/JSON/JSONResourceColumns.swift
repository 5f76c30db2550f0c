// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The paths of one reading in the order of their columns, as options name them.
struct JSONColumns {
    private(set) var paths: [JSONPath] = []

    /// The path of an option that takes one.
    mutating func add(_ options: Options, _ option: String) throws(OptionProblem) -> Int? {
        guard let text = options.text(option) else { return nil }
        return try add(text, [option])
    }

    /// The paths of an option that takes one or several.
    mutating func add(_ texts: [String], _ option: String) throws(OptionProblem) -> Range<Int> {
        let start = paths.count
        for text in texts { _ = try add(text, [option, text]) }
        return start..<paths.count
    }

    /// - Parameter place: of the text, for an error.
    mutating func add(_ text: String, _ place: [String]) throws(OptionProblem) -> Int {
        paths.append(try JSONColumns.path(text, place))
        return paths.count - 1
    }

    static func path(_ text: String, _ place: [String]) throws(OptionProblem) -> JSONPath {
        do throws(JSONPath.Invalid) {
            return try JSONPath(text)
        } catch {
            var problem = OptionProblem(detail: "'\(text)' is no path: \(error.reason)")
            problem.path = place
            throw problem
        }
    }
}

extension JSONCell {
    /// False for what says nothing: absent, `null`, `false`, 0, an empty text, list or object.
    var says: Bool {
        switch self {
        case .missing, .null, .bool(false), .string(""), .number("0"): false
        case .raw(let json): json.contains { !"[]{} \n\r\t".contains($0) }
        default: true
        }
    }
}
