// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A receiver that refuses us may have been given another password or address: what we know is read once more, and the
/// sink rests only where that is what it was.
enum SecretRefresh {
    static func outcome(_ outcome: Outcome, of secrets: [Secret]) async -> Outcome {
        switch outcome {
        case .paused(let reason), .disabled(let reason):
            await hasChanged(secrets)
                ? .retry(reason: "\(reason); the sink's secret is another one now", after: nil) : outcome
        case .delivered, .retry, .rejected: outcome
        }
    }

    /// Reading one may run a program: it waits on no thread that carries transfers.
    @concurrent
    private static func hasChanged(_ secrets: [Secret]) async -> Bool {
        // Every one of them is read, so this is no `contains`.
        secrets.reduce(false) { $1.refresh() || $0 }
    }
}
