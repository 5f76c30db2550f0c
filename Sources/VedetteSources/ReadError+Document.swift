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

    /// Converts the error of a reader or of its handler.
    init(any error: any Error) {
        switch error {
        case let error as DocumentError: self.init(error)
        case let error as ReadError: self = error
        default: self.init(.malformed, "the document could not be read")
        }
    }
}
