// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// How a message is formatted as one line.
enum LineFormat: Sendable {
    case json, line
    case template(any Template)

    /// - Parameter standard: the format when neither `format` nor `template` is configured.
    init(_ options: Options, standard: String) throws(OptionProblem) {
        let format = options.text("format")
        if let template = options.template("template") {
            guard format == nil else {
                throw OptionProblem("template", detail: "takes the place of 'format'; write one of them")
            }
            self = .template(template)
        } else {
            self = (format ?? standard) == "line" ? .line : .json
        }
    }

    /// Returns the line without any line break, whatever an untrusted title holds.
    func bytes(of message: Message, _ line: EventLine) -> [UInt8] {
        switch self {
        case .json: return message.json.bytes
        case .line: return Array(line.text(message).utf8)
        case .template(let template):
            var text = template.render(message.templateContext)
            // A block of YAML (`template: |`) ends in a line break.
            while text.last?.isNewline == true { text.removeLast() }
            return Array(TerminalText.safe(text, limit: 10_000).utf8)
        }
    }
}
