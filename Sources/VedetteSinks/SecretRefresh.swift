// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a sink's secrets again after the receiver refused them: the user may have changed them. The sink is paused only
/// if they are what they were.
enum SecretRefresh {
    static func outcome(_ outcome: Outcome, of secrets: [Secret]) async -> Outcome {
        switch outcome {
        case .paused(let reason), .disabled(let reason):
            await hasChanged(secrets)
                ? .retry(reason: "\(reason); the sink's secret is another one now", after: nil) : outcome
        case .delivered, .retry, .rejected: outcome
        }
    }

    /// Reads every one of them again, so this is no `contains`.
    private static func hasChanged(_ secrets: [Secret]) async -> Bool {
        var hasChanged = false
        for secret in secrets where await secret.refresh() { hasChanged = true }
        return hasChanged
    }
}
