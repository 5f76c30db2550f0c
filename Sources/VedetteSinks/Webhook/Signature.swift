// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Signs requests as Standard Webhooks 1.0 does: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`.
/// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
struct Signature: Sendable {
    /// Several while a key is replaced: a receiver accepts a message that one of its keys verifies.
    let keys: [Secret]

    /// Returns what is wrong with a key, without quoting it; nil when it is valid.
    static func problem(inKey key: String) -> String? {
        guard let bytes = bytes(ofKey: key) else {
            return "is no key of Standard Webhooks: `whsec_` and base64; write `echo whsec_$(openssl rand -base64 32)`"
        }
        return (24...64).contains(bytes.count) ? nil : "has a key of \(bytes.count) bytes; 24 to 64 are asked for"
    }

    /// Returns the header `webhook-signature`, with one signature for each key.
    /// - Parameter time: of the attempt, in seconds since 1970.
    func header(id: String, time: Int64, body: [UInt8]) throws(MessageError) -> Header {
        let signed = Array("\(id).\(time).".utf8) + body
        var signatures: [String] = []
        for key in keys {
            guard Signature.problem(inKey: key.value) == nil, let bytes = Signature.bytes(ofKey: key.value),
                let code = MessageAuthentication.code(of: signed, key: bytes)
            else { throw MessageError(sink: "key `sign` \(Signature.problem(inKey: key.value) ?? "cannot be used")") }
            signatures.append("v1," + Base64.encode(code))
        }
        return Header("webhook-signature", signatures.joined(separator: " "))
    }

    private static func bytes(ofKey key: String) -> [UInt8]? {
        Base64.decode(key.hasPrefix("whsec_") ? String(key.dropFirst(6)) : key)
    }
}
