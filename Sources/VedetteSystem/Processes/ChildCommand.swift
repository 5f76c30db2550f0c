// SPDX-License-Identifier: Apache-2.0

/// What a child process is started with, and its limits.
public struct ChildCommand: Sendable {
    /// How much of an output stream is kept.
    public struct OutputLimit: Sendable {
        public enum Excess: Sendable {
            /// The child is killed.
            case fails
            /// The beginning is kept and the rest is read and dropped.
            case dropsEnd
            /// The end is kept.
            case dropsBeginning
        }

        public var bytes: Int
        public var excess: Excess

        public init(_ bytes: Int, _ excess: Excess) { (self.bytes, self.excess) = (bytes, excess) }
    }

    /// The program, looked for in `PATH` when it has no slash, and its arguments. No shell reads them.
    public var arguments: [String]
    /// The whole environment of the child.
    public var environment = ChildEnvironment.inherited
    /// Where it runs; nil for the directory of this process.
    public var directory: String?
    /// What it reads from standard input.
    public var input: [UInt8] = []
    /// From its start to its end.
    public var timeLimit: Duration
    public var output = OutputLimit(64 << 10, .fails)
    public var errorOutput = OutputLimit(4096, .dropsEnd)

    public init(_ arguments: [String], timeLimit: Duration) {
        (self.arguments, self.timeLimit) = (arguments, timeLimit)
    }
}
