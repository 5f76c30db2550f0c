// SPDX-License-Identifier: Apache-2.0

/// The User-Agent of requests (RFC 9110 §10.1.5).
enum UserAgent {
    /// What is sent where the configuration has no other.
    static let standard = "vedette/\(ProgramVersion.number) (+https://vedette.example.org)"
}
