// SPDX-License-Identifier: Apache-2.0

/// The version of this program.
enum ProgramVersion {
    static let number = "0.1.0"
}
