// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Why no request was made of a message, and what that means for it.
struct MessageError: Error, Sendable, Hashable {
    var outcome: Outcome

    /// The sink is wrong, and rests until a person mends it.
    /// - Parameter detail: ends "the sink's …" and quotes no secret.
    init(sink detail: String) { outcome = .paused(reason: "the sink's \(detail)") }

    /// The sink is good and this message cannot be put into its form.
    init(message detail: String) { outcome = .rejected(reason: detail) }
}
