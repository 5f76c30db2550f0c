// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension ChatReply {
    init(_ response: Response, at now: Timestamp, secrets: [Secret]) {
        let headers = response.headers
        self.init(
            status: response.status, body: response.body, retryAfter: headers.retryAfter(at: now), secrets: secrets)
        // https://discord.com/developers/docs/topics/rate-limits
        guard headers["X-RateLimit-Remaining"] == "0", let seconds = headers["X-RateLimit-Reset-After"] else { return }
        pause = Double(seconds).flatMap(ChatReply.wait(seconds:))
    }

    /// Returns the wait that a body asks for, at most `RetryPolicy.longest`; nil when it asks for none.
    static func wait(seconds: Double?) -> Duration? {
        guard let seconds, seconds > 0 else { return nil }
        return .milliseconds(Int64((min(seconds, RetryPolicy.longest.inSeconds) * 1000).rounded(.up)))
    }
}
