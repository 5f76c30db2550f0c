// SPDX-License-Identifier: Apache-2.0

import CCrypto

/// Message authentication codes.
public enum MessageAuthentication {
    /// Returns the HMAC-SHA256 of a message (RFC 2104); nil where the library refuses, for example without memory.
    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8]? {
        var code = [UInt8](repeating: 0, count: 32)
        let made = HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
        return made == nil ? nil : code
    }
}
