// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The cookie that keeps a browser signed in: until when, and a signature with the token as its key. It is no token, ends with the
/// token, and the server need not remember it, also over a restart.
struct SessionCookie: Sendable {
    /// Returns the HMAC-SHA256 of a message; nil where the system's library cannot.
    typealias Sign = @Sendable (_ message: [UInt8], _ key: [UInt8]) -> [UInt8]?

    static let name = "vedette"
    private static let lifetime: Int64 = 90 * 24 * 60 * 60

    let sign: Sign

    /// Returns the header that stores it. Scripts cannot read it, and requests of other sites do not carry it.
    func header(for token: Secret, at now: Timestamp, isSecure: Bool) -> HeaderField? {
        let end = now.milliseconds / 1000 + Self.lifetime
        guard let signature = signature(of: end, token) else { return nil }
        return HeaderField(
            "Set-Cookie",
            "\(Self.name)=\(end).\(signature); Path=/; Max-Age=\(Self.lifetime); HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : ""))
    }

    /// Whether a value was made for this token, and its time is not over.
    func isValid(_ value: String, for token: Secret, at now: Timestamp) -> Bool {
        let parts = value.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let end = Int64(parts[0]), let signature = signature(of: end, token)
        else { return false }
        let left = end.subtractingReportingOverflow(now.milliseconds / 1000)
        return RequestGuard.isEqual(String(parts[1]), signature) && !left.overflow
            && (1...Self.lifetime).contains(left.partialValue)
    }

    /// - Parameter end: in seconds since 1970.
    private func signature(of end: Int64, _ token: Secret) -> String? {
        guard !token.value.isEmpty else { return nil }
        return sign(Array("vedette session until \(end)".utf8), Array(token.value.utf8)).map {
            Base64.encode($0)
        }
    }
}
