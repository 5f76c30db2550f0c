// SPDX-License-Identifier: Apache-2.0

/// How the first request of a fetch ended.
public enum FirstAnswer: Sendable {
    /// The response `isUnchanged`: it answers the conditions of the request, and has no body.
    case unchanged(Response)
    /// Anything else: a body, a redirect, an error.
    case other(any PendingResponse)
}
