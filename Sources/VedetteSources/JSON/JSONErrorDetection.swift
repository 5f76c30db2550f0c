// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// What a body says of itself: a server may answer 200 and write its 403 inside.
struct JSONErrorDetection {
    private let required: [(path: String, values: [String], column: Int)]
    private let errors: Range<Int>
    private let isGraphQL: Bool

    init(_ options: Options, _ request: JSONRequest, _ document: inout JSONColumns) throws(OptionProblem) {
        var required: [(path: String, values: [String], column: Int)] = []
        for (path, values) in options.lists("require") {
            required.append((path, values, try document.add(path, ["require", path])))
        }
        self.required = required
        isGraphQL = request.isGraphQL
        var errors = options.texts("error")
        // GraphQL (October 2021) §7.1: an answer with errors may hold data beside them, but not all of it.
        if isGraphQL { errors += ["errors.0.message", "errors"] }
        self.errors = try document.add(errors, "error")
    }

    /// Throws when the body says that the request failed. The text of `error` is a failure by itself only where nothing is
    /// required: some servers always write one.
    func judge(_ cells: [JSONCell]) throws(ReadError) {
        let said = errors.lazy.map { cells[$0] }.first(where: \.says)?.text
        let words = said.map { ": " + JSONErrorDetection.shortened($0) } ?? ""
        for (path, values, column) in required {
            let text = cells[column].text
            if let text, values.contains(text) { continue }
            let wanted = values.joined(separator: " or ")
            throw ReadError(
                .bodyStatus,
                "the body says \(path) is \(text.map(JSONErrorDetection.shortened) ?? "absent"), not \(wanted)\(words)")
        }
        if said != nil, required.isEmpty || isGraphQL { throw ReadError(.bodyStatus, "the body is an error\(words)") }
    }

    private static func shortened(_ text: String) -> String {
        let line = HTMLText.collapse(text, limit: 300)
        return line.utf8.count < text.utf8.count && line.utf8.count > 290 ? line + "…" : line
    }
}
