// SPDX-License-Identifier: Apache-2.0

/// What a kind keeps of a page, so that it reads the next version with less work. A reading without it returns the same page.
public final class ReadingCache: Sendable {
    /// What the kind alone understands.
    public let content: any Sendable
    /// Its size in bytes, estimated.
    public let bytes: Int
    /// The most that is kept of one source, in bytes.
    public static let mostBytes = 2 << 20

    /// Creates a cache.
    public init(_ content: any Sendable, bytes: Int) { (self.content, self.bytes) = (content, bytes) }
}
