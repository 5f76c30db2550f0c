// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Refuses a mail that must not be sent as it is, before a connection is made.
extension Mail {
    /// - Throws: `.configuration` for a mail that must not be sent as it is.
    func validate() throws(FetchError) {
        let names = [sender] + recipients + [hello].compactMap { $0 }
        guard !recipients.isEmpty, names.allSatisfy(Mail.isArgument) else {
            throw FetchError(
                .configuration,
                "an address or the name for EHLO is empty, or has a space, a bracket or a character outside ASCII; nothing was sent"
            )
        }
        let isAlwaysTLS = server.isTLS || upgrade == .required
        guard login == nil || isAlwaysTLS || server.isLoopback else {
            throw FetchError(
                .configuration, "the password would go to \(server.origin) without TLS; nothing was sent")
        }
    }

    /// Whether a text can be an argument of an SMTP command, which a space, a line break or an angle bracket would end.
    private static func isArgument(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (33...126).contains($0) && $0 != 60 && $0 != 62 }
    }
}
