// SPDX-License-Identifier: Apache-2.0

/// What `run --once` says of a source.
public enum OnceResult: Sendable, Hashable {
    case good(items: Int, isBaseline: Bool, events: Int)
    case failed(source: String, detail: String)
    /// Under Retry-After or backoff: not polled.
    case held(String)
    /// The journal could not be written.
    case unwritten(String)
}
