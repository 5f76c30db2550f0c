// SPDX-License-Identifier: Apache-2.0

/// Passes a body through a program of the user's own (`SourceKind.shaping`) before it is read.
public protocol BodyTransformer: Sendable {
    /// - Parameter body: complete, as it was received and inflated.
    /// - Returns: one JSON value; several outputs of the program as one array, none as an empty one.
    /// - Throws: what is wrong with the body or the program, or which limit was passed; `.cancelled` when the task was.
    func shape(_ body: [UInt8], with program: String) async throws(ReadError) -> [UInt8]
}
