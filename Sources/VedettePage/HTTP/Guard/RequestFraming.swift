// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Checks how a request says where it ends. A server and a proxy in front of it that disagree about that let one client
/// smuggle a request into the connection of another (RFC 9112 §11.2), so everything unusual is refused and the connection
/// closed.
enum RequestFraming {
    struct Refusal: Error, Equatable {
        let status: Int
        let text: String

        var response: PageResponse { .refusal(status, text) }
    }

    /// - Returns: the method, of a request that may be read on.
    static func check(
        method: String, _ headers: [HeaderField], bodyLimit: Int
    ) -> Result<PageRequest.Method, Refusal> {
        guard HTTPSyntax.isToken(method) else {
            return .failure(Refusal(status: 400, text: "The method is malformed."))
        }
        // libmicrohttpd 0.9.75 takes `Content-Length : 3` for a header of another name, and a proxy may not.
        guard headers.allSatisfy({ HTTPSyntax.isToken($0.name) }) else {
            return .failure(Refusal(status: 400, text: "The name of a header is malformed."))
        }
        let names = headers.map { $0.name.lowercased() }
        guard names.count(where: { $0 == "host" }) == 1 else {
            return .failure(Refusal(status: 400, text: "A request needs one Host header."))
        }
        guard !names.contains("transfer-encoding") else {
            return .failure(Refusal(status: 411, text: "A body needs a Content-Length."))
        }
        let lengths = zip(names, headers).filter { $0.0 == "content-length" }.map(\.1.value)
        let known = PageRequest.Method(method)
        guard let text = lengths.first else { return .success(known) }
        guard lengths.count == 1, !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return .failure(Refusal(status: 400, text: "The Content-Length is malformed."))
        }
        guard let length = Int(text), length <= bodyLimit else {
            return .failure(Refusal(status: 413, text: "The body is longer than \(bodyLimit) bytes."))
        }
        guard (known != .get && known != .head) || length == 0 else {
            return .failure(Refusal(status: 400, text: "\(method) takes no body."))
        }
        return .success(known)
    }
}
