// SPDX-License-Identifier: Apache-2.0

/// How much a message about several events holds.
enum MessageLimits {
    /// Titles and ids that a digest keeps; further events are only counted.
    static let lines = 20
    /// Subjects that a message names in its lines.
    static let named = 10
    /// Subjects that the data of a message holds.
    static let parts = 1000
}
