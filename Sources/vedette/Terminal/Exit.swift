// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// How the program ends when it cannot do what was asked: a sentence for stderr and a code of sysexits.h.
struct Exit: Error, CustomStringConvertible {
    enum Code: Int32 {
        case usage = 64
        case data = 65
        case unavailable = 69
        case software = 70
        case cannotCreate = 73
        case inputOutput = 74
        case temporary = 75
        case permission = 77
        case configuration = 78
    }

    var code: Code
    var description: String

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

    init(_ error: JournalError) {
        let code: Code =
            switch error.reason {
            case .locked, .busy: .temporary
            case .full, .inputOutput: .inputOutput
            case .readOnly: .cannotCreate
            case .corrupt, .newer: .data
            case .missing, .older: .unavailable
            case .refused: .software
            }
        self.init(code, error.detail)
    }
}
