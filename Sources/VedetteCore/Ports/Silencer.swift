// SPDX-License-Identifier: Apache-2.0

/// Takes what the receiver of a message asks not to hear of again, for instance by a button of a bubble.
public protocol Silencer: Sendable {
    /// Returns at once and cannot fail here: who asks has nobody to tell. What became of it is the watcher's to log.
    func silence(_ silence: Silence)
}
