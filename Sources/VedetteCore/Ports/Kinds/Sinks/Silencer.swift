// SPDX-License-Identifier: Apache-2.0

/// Takes silences from the receiver of a message, for instance from a button of a desktop notification.
public protocol Silencer: Sendable {
    /// Adds a silence. Returns at once; a failure is logged by the watcher, since the caller cannot show it.
    func silence(_ silence: Silence)
}
