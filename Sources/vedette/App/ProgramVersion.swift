// SPDX-License-Identifier: Apache-2.0

/// The version of this program.
enum ProgramVersion {
    static let number = "0.1.0"
    /// The User-Agent of requests, where the configuration has no other.
    static let userAgent = "vedette/\(number) (+https://vedette.example.org)"
}
