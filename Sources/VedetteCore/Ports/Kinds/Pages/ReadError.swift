// SPDX-License-Identifier: Apache-2.0

/// A response that could not be read, so that the poll failed.
public struct ReadError: Error, Sendable, Hashable {
    /// The class.
    public var failure: Failure
    /// What is wrong, in one sentence.
    public var detail: String

    /// Creates an error.
    public init(_ failure: Failure, _ detail: String) { (self.failure, self.detail) = (failure, detail) }
}
