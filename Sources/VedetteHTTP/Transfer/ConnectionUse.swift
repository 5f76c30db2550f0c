// SPDX-License-Identifier: Apache-2.0

/// Which connection a transfer uses, and whether the next one may use it.
enum ConnectionUse {
    /// A new one, which is closed after the response.
    case own
    /// A kept or a new one, which is closed after the response.
    case last
    /// A kept or a new one, which is kept.
    case kept
}
