// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore

/// Shows a monitor that the watcher runs. A failure is logged once, and its end once: the monitor itself is what tells
/// people.
actor HeartbeatSender {
    /// Attempts of one beat: one lost packet must not alarm anybody.
    private static let attempts = 3
    private static let pause = Duration.seconds(5)

    private let fetcher: any Fetcher
    private let clock: any Clock
    private let log: any Log
    private let userAgent: String
    private var isSending = false
    private var isFailing = false

    init(fetcher: any Fetcher, clock: any Clock, log: any Log, userAgent: String) {
        (self.fetcher, self.clock, self.log, self.userAgent) = (fetcher, clock, log, userAgent)
    }

    /// Sends one beat, unless the last one is under way.
    func beat(_ settings: HeartbeatSettings) async {
        guard !isSending else { return }
        isSending = true
        defer { isSending = false }
        var problem: String?
        for attempt in 1...HeartbeatSender.attempts {
            problem = await send(settings)
            guard problem != nil, attempt < HeartbeatSender.attempts else { break }
            let next = clock.now().boot.advanced(by: HeartbeatSender.pause)
            guard (try? await clock.sleep(until: next)) != nil else { return }
        }
        guard !Task.isCancelled else { return }
        if let problem, !isFailing { log.log(.warning, "failed to send the heartbeat: \(problem)") }
        if problem == nil, isFailing { log.log(.notice, "the heartbeat is sent again") }
        isFailing = problem != nil
    }

    /// - Returns: why it failed; nil when the monitor took it.
    private func send(_ settings: HeartbeatSettings) async -> String? {
        let secrets = [settings.url, settings.token].compactMap(\.self)
        let version = secrets.version
        do throws(FetchError) {
            let status = try await fetcher.fetch(request(settings)).status
            // For the next attempt.
            if status == 401 || status == 403 { _ = await secrets.renewed(after: version, now: clock.now().boot) }
            return (200..<300).contains(status) ? nil : "the monitor answered \(status)"
        } catch {
            return error.detail
        }
    }

    private func request(_ settings: HeartbeatSettings) -> Request {
        var limits = FetchLimits()
        (limits.total, limits.firstByte) = (.seconds(10), .seconds(10))
        (limits.received, limits.inflated) = (64 << 10, 64 << 10)
        var headers = [Header("User-Agent", userAgent)]
        if let token = settings.token { headers.append(Header("Authorization", "Bearer \(token.value)")) }
        // A redirect would take the token along.
        return Request(
            method: settings.method.rawValue, url: settings.url.value, headers: headers,
            body: settings.method == .post ? [] : nil, lane: .deliveries, group: "heartbeat", limits: limits,
            redirects: 0)
    }
}
