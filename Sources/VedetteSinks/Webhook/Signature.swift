// SPDX-License-Identifier: Apache-2.0

import CCrypto
import VedetteCore

/// The signature of Standard Webhooks 1.0: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`.
/// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
struct Signature: Sendable {
    /// Several while a key is replaced: a receiver takes a message that one of its keys verifies.
    let keys: [Secret]

    /// What is wrong with a key, without quoting it; nil when it is good.
    static func problem(inKey key: String) -> String? {
        guard let bytes = bytes(ofKey: key) else {
            return "is no key of Standard Webhooks: `whsec_` and base64; write `echo whsec_$(openssl rand -base64 32)`"
        }
        return (24...64).contains(bytes.count) ? nil : "has a key of \(bytes.count) bytes; 24 to 64 are asked for"
    }

    /// The header `webhook-signature`: one signature for each key.
    /// - Parameter time: of the attempt, in seconds since 1970.
    func header(id: String, time: Int64, body: [UInt8]) throws(MessageError) -> Header {
        let signed = Array("\(id).\(time).".utf8) + body
        var signatures: [String] = []
        for key in keys {
            guard Signature.problem(inKey: key.value) == nil, let bytes = Signature.bytes(ofKey: key.value),
                let code = Signature.code(of: signed, key: bytes)
            else { throw MessageError(sink: "key `sign` \(Signature.problem(inKey: key.value) ?? "cannot be used")") }
            signatures.append("v1," + Base64.text(of: code))
        }
        return Header("webhook-signature", signatures.joined(separator: " "))
    }

    private static func bytes(ofKey key: String) -> [UInt8]? {
        Base64.bytes(of: key.hasPrefix("whsec_") ? String(key.dropFirst(6)) : key)
    }

    private static func code(of message: [UInt8], key: [UInt8]) -> [UInt8]? {
        var code = [UInt8](repeating: 0, count: 32)
        let made = HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
        return made == nil ? nil : code
    }
}

/// RFC 4648 §4.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(of bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                out.append(place <= group.count ? alphabet[word >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Nil for what is no base64. The padding may be left out.
    static func bytes(of text: String) -> [UInt8]? {
        var digits = Array(text.utf8)
        while digits.last == UInt8(ascii: "="), digits.count % 4 == 0 || digits.count % 4 == 3 { digits.removeLast() }
        guard digits.count % 4 != 1 else { return nil }
        var (out, word, bits) = ([UInt8](), 0, 0)
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            word = (word << 6 | value) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(word >> bits & 0xFF))
            }
        }
        return out
    }
}
