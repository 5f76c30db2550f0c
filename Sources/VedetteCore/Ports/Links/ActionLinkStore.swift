// SPDX-License-Identifier: Apache-2.0

/// What the links of messages need beyond a restart: keys, one for each day, and the links that were used.
public protocol ActionLinkStore: Sendable {
    /// Returns the HMAC-SHA256 of a text with the key of a day.
    /// - Parameter makesKey: whether a key that is missing is made.
    /// - Returns: nil where there is no key, or where it cannot be read or made.
    func sign(_ text: String, day: Int64, makesKey: Bool) async -> [UInt8]?

    /// Notes that a link is used.
    func use(_ token: ActionLink.Token) async -> ActionLink.Use

    /// Takes the note back: what the link asks for was not stored.
    func release(_ token: ActionLink.Token) async
}
