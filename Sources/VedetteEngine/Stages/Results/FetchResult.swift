// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What the fetch stage hands on.
enum FetchResult: Sendable {
    /// A body to read.
    case response(FirstResponse)
    /// What an `ObservingKind` reads: any response, or the reason why there is none.
    /// - Parameter movedTo: where permanent redirects led; nil for none.
    case observed(Result<Response, FetchError>, movedTo: String?)
    /// Records that go on arriving.
    case stream(OpenStream)
    /// The poll ends here: unchanged, failed or cancelled.
    case ended(PollResult)
}

/// The response to the first request of a poll.
struct FirstResponse: Sendable {
    var response: Response
    var template: RequestTemplate
    /// Identifies the request, so that its validators are sent with no other.
    var requestDigest: UInt64
    var startedAt: BootTime
    /// Where permanent redirects led; nil for none.
    var movedTo: String?
}
