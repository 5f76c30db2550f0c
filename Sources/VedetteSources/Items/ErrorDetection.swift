// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Detects a failure that a server writes into the body of a 200 response, by the options `require` and `error`.
struct ErrorDetection: Sendable {
    private let required: [(text: String, values: [String], column: Int)]
    private let errors: [Int]
    /// An error text fails the response although everything required is there.
    private let errorsAlwaysFail: Bool
    /// `body` or `document`, for the message.
    private let noun: String

    /// - Parameter ownErrors: expressions of errors that the protocol itself defines; each fails the response.
    init(
        _ options: Options, _ columns: inout some ItemColumns, noun: String, ownErrors: [String] = []
    ) throws(OptionProblem) {
        var required: [(text: String, values: [String], column: Int)] = []
        for (text, values) in options.lists("require") {
            required.append((text, values, try columns.add(text, ["require", text])))
        }
        self.required = required
        self.noun = noun
        errorsAlwaysFail = !ownErrors.isEmpty
        errors = try columns.add(options.texts("error") + ownErrors, "error")
    }

    /// Throws when the response reports a failure. Without `errorsAlwaysFail` an error text is a failure only where nothing is
    /// required: some servers always write one.
    ///
    /// - Parameters:
    ///   - value: the text of a column; nil when absent.
    ///   - error: the text of a column that reports an error; nil when it reports none.
    func check(
        value: (Int) throws(ReadError) -> String?, error: (Int) throws(ReadError) -> String?
    ) throws(ReadError) {
        var reported: String?
        for column in errors where reported == nil { reported = try error(column).map(ErrorDetection.shortened) }
        let suffix = reported.map { ": \($0)" } ?? ""
        for (text, values, column) in required {
            let found = try value(column)
            if let found, values.contains(found) { continue }
            let wanted = values.joined(separator: " or ")
            throw ReadError(
                .bodyStatus,
                "the \(noun) says \(text) is \(found.map(ErrorDetection.shortened) ?? "absent"), not \(wanted)\(suffix)"
            )
        }
        if reported != nil, required.isEmpty || errorsAlwaysFail {
            throw ReadError(.bodyStatus, "the \(noun) is an error\(suffix)")
        }
    }

    private static func shortened(_ text: String) -> String { HTMLText.collapse(text, limit: 300) }
}
