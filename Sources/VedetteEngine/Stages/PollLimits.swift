// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Limits over all pages of one poll; beyond them the poll has a gap.
struct PollLimits: Sendable {
    /// Bytes of bodies, decoded.
    var bytes = 256 << 20
    var time = Duration.seconds(600)
    /// How many pages exist at all: further ones are not asked for, and that is no gap. Nil where a server decides.
    var pages: Int?
}
