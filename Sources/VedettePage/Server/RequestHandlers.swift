// SPDX-License-Identifier: Apache-2.0

/// Starts the handlers of requests on Swift's pool, a few at once, while their connections are suspended. Health checks have
/// a rate of their own and do not wait, so that other requests use up nothing that they need. It belongs to the server's
/// thread.
struct RequestHandlers {
    typealias Respond = @Sendable (PageRequest) async -> PageResponse

    private let limits: PageLimits
    private let healthChecks: Set<String>
    private let messages: LoopMessages
    private let respond: Respond
    private var waiting: [(exchange: Exchange, request: PageRequest)] = []
    private var running = 0
    private var rate: RequestRate
    private var healthRate: RequestRate

    init(
        _ limits: PageLimits, _ healthChecks: Set<String>, _ messages: LoopMessages, _ respond: @escaping Respond
    ) {
        (self.limits, self.healthChecks, self.messages, self.respond) = (limits, healthChecks, messages, respond)
        rate = RequestRate(burst: limits.requestBurst, perSecond: limits.requestsPerSecond)
        healthRate = RequestRate(burst: limits.healthCheckBurst, perSecond: limits.healthChecksPerSecond)
    }

    func isHealthCheck(_ exchange: Exchange) -> Bool {
        let isRead = exchange.method == .get || exchange.method == .head
        return isRead && healthChecks.contains(exchange.path)
    }

    /// Takes a request.
    /// - Returns: why it is refused, and whether its connection ends with that; nil where it is handled.
    mutating func add(_ exchange: Exchange, _ request: PageRequest) -> (response: PageResponse, closes: Bool)? {
        let isHealthCheck = isHealthCheck(exchange)
        guard isHealthCheck ? healthRate.take(request.peer, at: .now) : rate.take(request.peer, at: .now) else {
            return (.refusal(429, "Too many requests.", headers: [HeaderField("Retry-After", "1")]), false)
        }
        guard isHealthCheck || waiting.count < limits.queue else {
            return (.refusal(503, "Too many requests wait."), true)
        }
        exchange.stage = .handling
        if isHealthCheck {
            // A connection has one at a time, so that the connections bound their number.
            exchange.task = Task(priority: .high) { [respond, messages, id = exchange.id] in
                messages.post(.health(await respond(request), to: id))
            }
        } else {
            waiting.append((exchange, request))
        }
        return nil
    }

    mutating func startWaiting() {
        while running < limits.handlers, !waiting.isEmpty {
            let (exchange, request) = waiting.removeFirst()
            guard case .handling = exchange.stage else { continue }
            running += 1
            exchange.task = Task(priority: .utility) { [respond, messages, id = exchange.id] in
                messages.post(.response(await respond(request), to: id))
            }
        }
    }

    /// A handler of a request that waited has ended.
    mutating func ended() { running -= 1 }
}
