// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a sink's secrets again after the receiver refused them: the user may have changed them. The sink is paused only
/// if they are what they were. It is made before they are sent.
struct SecretRefresh: Sendable {
    private let secrets: [Secret]
    private let version: UInt64
    private let clock: any Clock

    init(of secrets: [Secret], _ clock: any Clock) {
        (self.secrets, self.clock, version) = (secrets, clock, secrets.version)
    }

    /// Returns the outcome of an attempt: with other secrets it is made again, as a retry of the same message.
    func outcome(_ outcome: Outcome) async -> Outcome {
        switch outcome {
        case .paused(let reason), .disabled(let reason):
            await secrets.renewed(after: version, now: clock.now().boot)
                ? .retry(reason: "\(reason); the sink's secret is another one now", after: nil) : outcome
        case .delivered, .retry, .rejected: outcome
        }
    }
}
