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

extension NextPage {
    /// - Throws: `.shape` for a reference that is not an address: taking this page for the last one would lose the rest.
    init(_ reference: String, from base: WebURL) throws(ReadError) {
        guard let url = base.resolving(reference) else {
            throw ReadError(.shape, "the next page's address is not valid; check 'next'")
        }
        self.init(url.text)
    }
}

/// Joins the parts of a key.
enum CompositeKey {
    /// Joins parts by `/`, and encodes a `/` inside a part so that no two items get the same key. A single part is the key as it
    /// is.
    static func joined(_ parts: [String]) -> String {
        parts.count == 1 ? parts[0] : parts.map(joinable).joined(separator: "/")
    }

    private static func joinable(_ part: String) -> String {
        guard part.utf8.contains(UInt8(ascii: "/")) || part.utf8.contains(UInt8(ascii: "%")) else { return part }
        return part.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "%2F")
    }
}

extension StableHash {
    /// Returns the digest of texts, each separated from the next.
    static func of(_ texts: [String]) -> UInt64 {
        var digest = StableHash()
        for text in texts { digest.add(text) }
        return digest.value
    }
}

extension Timestamp {
    /// Reads milliseconds since 1970 as a server writes them; nil for anything else and for a time beyond the year 9999.
    init?(milliseconds text: String?) {
        guard let text, let number = Int64(text), number.magnitude < 253_402_300_800_000 else { return nil }
        self.init(milliseconds: number)
    }
}
