// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Maps a receiver's answer to an outcome, as Standard Webhooks 1.0 and CloudEvents' HTTP webhooks agree.
/// No reason quotes the receiver's body, the URL or a header.
public enum ReceiverOutcome {
    /// - Parameter retryAfter: the value of the Retry-After header.
    public static func of(status: Int, retryAfter: Duration?) -> Outcome {
        switch status {
        case 200..<300: .delivered
        case 300..<400:
            .rejected(reason: "the receiver answered \(status): redirects are not followed; correct the url")
        case 401, 403: .paused(reason: "the receiver answered \(status): check the sink's credentials")
        case 407: .paused(reason: "the proxy answered 407: check the proxy's credentials")
        case 410: .disabled(reason: "the receiver answered 410: it is gone for good")
        // Request timeout, misdirected, too early, too many: these are about the attempt, not about the message.
        case 408, 421, 425, 429: retry(status, retryAfter)
        case 400..<500: .rejected(reason: "the receiver answered \(status): it will not take this message")
        default: retry(status, retryAfter)
        }
    }

    /// Maps a failed request to an outcome. Whether the receiver took the message is unknown, so the same id is sent again.
    public static func of(_ error: FetchError) -> Outcome {
        if error.failure == .cancelled { return .retry(reason: "stopped before the receiver answered", after: nil) }
        return .retry(reason: "\(error.failure.rawValue): \(error.detail)", after: nil)
    }

    private static func retry(_ status: Int, _ retryAfter: Duration?) -> Outcome {
        // A receiver cannot park a delivery for ever.
        .retry(reason: "the receiver answered \(status)", after: retryAfter.map { min($0, RetryPolicy.longest) })
    }
}
