// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

extension ReadError {
    init(_ error: DocumentError) {
        let failure: Failure =
            switch error.kind {
            case .empty: .empty
            case .truncated: .truncated
            case .syntax, .entityDeclared: .malformed
            case .tooDeep, .tooLarge: .tooLarge
            case .wrongShape: .shape
            case .wrongType: .wrongType
            case .encoding: .encoding
            }
        self.init(failure, error.description)
    }

    /// Of a reader's handler, which may throw its own.
    init(any error: any Error) {
        switch error {
        case let error as DocumentError: self.init(error)
        case let error as ReadError: self = error
        default: self.init(.malformed, "the document could not be read")
        }
    }
}

extension Digest {
    /// Of texts, each apart from the next.
    static func of(_ texts: [String]) -> UInt64 {
        var digest = Digest()
        for text in texts { digest.add(text) }
        return digest.value
    }
}

extension Timestamp {
    /// Milliseconds since 1970 as a server writes them; nil for anything else or beyond the calendar.
    init?(milliseconds text: String?) {
        guard let text, let number = Int64(text), abs(number) < 253_402_300_800_000 else { return nil }
        self.init(milliseconds: number)
    }
}
