// SPDX-License-Identifier: Apache-2.0

/// How urgent a message is. Each sink maps it to what its receiver has.
public enum Priority: String, Sendable, Hashable, CaseIterable {
    /// May be missed.
    case low
    /// The usual one.
    case normal
    /// Should interrupt.
    case high
}
