// SPDX-License-Identifier: Apache-2.0

extension PageResponse {
    /// A response of bytes, as it is sent on a connection that ends with it and that libmicrohttpd does not write to.
    var closing: [UInt8] {
        guard case .bytes(let body) = body else { return [] }
        let reason = status == 503 ? "Service Unavailable" : "Refused"
        let fields =
            [HeaderField("Content-Type", contentType), HeaderField("Content-Length", String(body.count))]
            + headers
            + [HeaderField("Connection", "close")]
        let head =
            "HTTP/1.1 \(status) \(reason)\r\n" + fields.map { "\($0.name): \($0.value)\r\n" }.joined()
            + "\r\n"
        return Array(head.utf8) + body
    }
}
