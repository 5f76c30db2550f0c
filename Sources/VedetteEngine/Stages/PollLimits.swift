// SPDX-License-Identifier: Apache-2.0

/// Limits over all pages of one poll; beyond them the poll has a gap.
struct PollLimits: Sendable {
    /// Bytes of bodies, decoded.
    var bytes = 256 << 20
    var time = Duration.seconds(600)
    /// The number of pages that exist, for `replay`; reading stops there without a gap. Nil when the server decides.
    var pages: Int?
}
