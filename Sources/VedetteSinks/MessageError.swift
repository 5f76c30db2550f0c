// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A message for which no request could be made, and the outcome that follows.
struct MessageError: Error, Sendable, Hashable {
    var outcome: Outcome

    /// The sink's configuration is wrong; it is paused until a person changes it.
    /// - Parameter detail: ends "the sink's …" and quotes no secret.
    init(sink detail: String) { outcome = .paused(reason: "the sink's \(detail)") }

    /// The sink is valid, but this message does not fit its format.
    init(message detail: String) { outcome = .rejected(reason: detail) }
}
