// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides when a request has conditions: If-None-Match, If-Modified-Since (RFC 9110 §13.1), and the digest of the last
/// good body.
extension PreparedRequest {
    /// Adds the validators and the digest of the last good response to the same request.
    ///
    /// - Parameters:
    ///   - request: this request, which may ask for a stream in addition.
    ///   - snapshot: what that response made; nil for none.
    func conditional(_ request: Request, on snapshot: SnapshotHead?) -> Request {
        // Validators of another address are not valid for this one.
        guard let snapshot, snapshot.asked == digest, let known = snapshot.digest else { return request }
        var request = request
        request.knownDigest = known
        // Other methods have no such conditions (RFC 9110 §13.2.1).
        if template.method == "GET" || template.method == "HEAD" { request.validators = snapshot.validators }
        return request
    }
}

extension SnapshotHead {
    /// Whether the source reads the same items now. A field that is read with other options must be read again, even from
    /// an unchanged body.
    /// - Parameter identity: the source's.
    func isComparable(with source: Source, _ identity: UInt64) -> Bool {
        self.identity == identity && fingerprints == source.fingerprints
    }
}

extension Source {
    /// Whether the response is a list's page that names a next page in a header. Then neither validators nor digest are
    /// kept, so what they stand for is a page without it.
    func hasUnknownNextPage(_ response: Response) -> Bool { kind.mode == .list && response.headers.nextLink != nil }

    /// The validators of a response that may be stored.
    func validators(of response: Response, at now: Timestamp) -> Validators {
        let validators = response.headers.validators(at: now)
        return server.redactor(for: response)?.redacted(validators) ?? validators
    }
}
