// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A byte with which glibc fills memory that is freed, and with whose complement it fills memory that is allocated
/// (M_PERTURB of mallopt(3)), so that what is read before it is written, or after it is freed, is no chance value.
struct PoisonedMemory: CustomStringConvertible, Sendable {
    let byte: String

    var description: String { "MALLOC_PERTURB_=\(byte)" }
    var environment: [String: String] { ["MALLOC_PERTURB_": byte] }

    /// Swift's runtime ignores a reference whose highest bit is set: 165 shows references that were never written (0x5a…), and 85
    /// those that were freed (0x55…). A value in the environment is the only one.
    static let all = (ProcessInfo.processInfo.environment["MALLOC_PERTURB_"].map { [$0] } ?? ["165", "85"]).map {
        PoisonedMemory(byte: $0)
    }
}
