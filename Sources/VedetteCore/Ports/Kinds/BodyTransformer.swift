// SPDX-License-Identifier: Apache-2.0

/// Passes a body through the user's `jq` program (`SourceKind.jqProgram`) before it is read.
public protocol BodyTransformer: Sendable {
    /// Transforms a body.
    /// - Parameter body: the complete body, decoded.
    /// - Returns: one JSON value; several outputs of the program are one array, no output is an empty one.
    /// - Throws: what is wrong with the body or the program, or which limit was hit; `.cancelled` when the task was.
    func transform(_ body: [UInt8], with program: String) async throws(ReadError) -> [UInt8]
}
