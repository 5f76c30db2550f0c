// SPDX-License-Identifier: Apache-2.0

/// Sends mail (RFC 5321). It does not retry.
public protocol MailCarrier: Sendable {
    /// Sends one mail to one server: to all recipients or, when the server refuses one of them, to none.
    ///
    /// Cancelling the calling task ends it with `.cancelled`; cancelling a finished one does nothing.
    ///
    /// - Returns: the final reply of the server, also when it is a refusal.
    /// - Throws: when there is no final reply. It is then unknown whether the server accepted the mail.
    func send(_ mail: Mail) async throws(FetchError) -> MailReply
}
