// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Why a request is not answered with what it asks for.
enum APIError: Error {
    /// The request is wrong.
    case invalid(String)
    /// What it names does not exist.
    case missing(String)
    /// Something else is under way.
    case conflict(String)
    /// The request can be read, and what it asks for does not work.
    case failed(String)
    /// The journal cannot be read.
    case unavailable(String)

    /// Problem details, by RFC 9457.
    var response: PageResponse {
        let (status, title, detail) =
            switch self {
            case .invalid(let detail): (400, "Bad request", detail)
            case .missing(let detail): (404, "Not found", detail)
            case .conflict(let detail): (409, "Conflict", detail)
            case .failed(let detail): (422, "Unprocessable content", detail)
            case .unavailable(let detail): (503, "The journal cannot be read", detail)
            }
        let body = JSON.members([
            "title": .string(title), "status": .number(status), "detail": .string(detail),
        ])
        return .text(body.text + "\n", status: status, contentType: APIOperation.problemType)
    }
}
