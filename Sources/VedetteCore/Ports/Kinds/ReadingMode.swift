// SPDX-License-Identifier: Apache-2.0

/// What the absence of an item means.
public enum ReadingMode: String, Sendable, Hashable {
    /// The items are complete; an absent one is gone.
    case list
    /// The items are the newest part; absence means nothing.
    case window
}
