// SPDX-License-Identifier: Apache-2.0

/// Stores the cookies of `CookiePolicy.journal` over restarts.
public protocol CookieStore: Sendable {
    /// Returns the stored jar of a session; nil when there is none, or when it cannot be read.
    func cookies(of session: String) async -> [UInt8]?

    /// Replaces the stored jar of a session. A jar has credentials, so only its owner may be able to read the store.
    ///
    /// - Parameter jar: JSON text, at most about 250 KB.
    func keep(_ jar: [UInt8], of session: String) async
}
