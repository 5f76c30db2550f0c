// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A message of the appliance: a code and its arguments.
struct CloudBurstMessage: Hashable {
    var code: String
    var args: [String] = []

    /// `RM07054("05WASAdmin+Lab")`: arguments are quoted, separated by commas, each URL-encoded. A text of another
    /// form is all code, so that no change of it is missed.
    init(_ message: String) {
        code = CloudBurstMessage.code(of: message)
        var rest = message[code.endIndex...]
        guard !code.isEmpty, rest.first == "(", rest.last == ")" else {
            if !rest.isEmpty { code = message }
            return
        }
        rest = rest.dropFirst().dropLast()
        var current = ""
        var isQuoted = false
        for character in rest {
            switch character {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                args.append(FormEncoding.decoded(current.trimmed()))
                current = ""
            default: current.append(character)
            }
        }
        if !current.isEmpty || !args.isEmpty { args.append(FormEncoding.decoded(current.trimmed())) }
    }

    /// Returns the leading letters and digits: `RM07054` of `RM07054("05WASAdmin+Lab")`.
    static func code(of message: String) -> String {
        let letters = message.prefix { $0.isASCII && $0.isLetter && $0.isUppercase }
        let digits = message[letters.endIndex...].prefix { $0.isASCII && $0.isNumber }
        return letters.isEmpty || digits.isEmpty ? "" : String(message[..<digits.endIndex])
    }
}
