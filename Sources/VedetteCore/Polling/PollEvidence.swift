// SPDX-License-Identifier: Apache-2.0

/// What a poll, or a connection of a stream by then, proves about its source: a failure ends only where what failed works
/// again (I12).
public enum PollEvidence: Sendable, Hashable {
    /// Nothing: a connection was opened, which a server may do that sends nothing usable.
    case nothing
    /// The connection lasts. Whether what the server sends can be read is not known.
    case connection
    /// What the server sent was read and stored.
    case content
}
