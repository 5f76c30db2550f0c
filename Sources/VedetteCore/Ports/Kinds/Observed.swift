// SPDX-License-Identifier: Apache-2.0

/// What an `ObservingKind` reads.
public enum Observed: Sendable {
    /// A response of any status.
    case response(Response)
    /// No response.
    case failed(FetchError)
}
