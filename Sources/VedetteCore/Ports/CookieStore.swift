// SPDX-License-Identifier: Apache-2.0

/// Where the cookies of `CookiePolicy.journal` outlive the program.
public protocol CookieStore: Sendable {
    /// What was kept last for a session; nil when there is nothing, or when it cannot be read.
    func cookies(of session: String) async -> [UInt8]?

    /// Replaces what is kept for a session. A jar holds credentials: it belongs where only its owner can read.
    ///
    /// - Parameter jar: JSON text, at most about 250 KB.
    func keep(_ jar: [UInt8], of session: String) async
}
