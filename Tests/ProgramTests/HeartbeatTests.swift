// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteConfig
import VedetteCore
import VedetteTestSupport

@testable import vedette

@Suite("The heartbeat")
struct HeartbeatTests {
    /// Answers with these statuses in turn, then with 200; nil is a broken connection.
    private final class Monitor: AwaitingFetcher {
        private let state: Mutex<(answers: [Int?], requests: [Request])>
        var requests: [Request] { state.withLock { $0.requests } }

        init(_ answers: [Int?] = []) { state = Mutex((answers, [])) }

        func answer(to request: Request) async throws(FetchError) -> Response {
            let status: Int? = state.withLock { state in
                state.requests.append(request)
                return state.answers.isEmpty ? 200 : state.answers.removeFirst()
            }
            guard let status else { throw FetchError(.refused, "connection refused by ping.example") }
            return Response(status: status, url: request.url)
        }
    }

    /// A clock on which every pause is over at once.
    private struct HastyClock: Clock {
        func now() -> Moment { Moment(wall: Timestamp(milliseconds: 0), boot: BootTime(milliseconds: 0)) }
        func sleep(until deadline: BootTime) async throws(CancellationError) {}
    }

    private final class Lines: Log {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
            let line = "\(level): \(message())"
            lines.withLock { $0.append(line) }
        }
    }

    private let log = Lines()

    private func sender(_ monitor: Monitor) -> HeartbeatSender {
        HeartbeatSender(fetcher: monitor, clock: HastyClock(), log: log, userAgent: "vedette/test")
    }

    private func settings(_ change: (inout HeartbeatSettings) -> Void = { _ in }) -> HeartbeatSettings {
        var settings = HeartbeatSettings(url: Secret("https://ping.example/secret-id"))
        change(&settings)
        return settings
    }

    @Test("a beat is one GET without a body or redirects; POST and a token are for monitors that want them")
    func request() async {
        let monitor = Monitor()
        let sender = sender(monitor)
        await sender.beat(settings())
        await sender.beat(
            settings {
                $0.method = .post
                $0.token = Secret("t0ken")
            })
        let requests = monitor.requests
        #expect(requests.map(\.method) == ["GET", "POST"] && requests.map(\.body) == [nil, []])
        #expect(requests.allSatisfy { $0.url == "https://ping.example/secret-id" && $0.redirects == 0 })
        #expect(!requests[0].headers.contains { $0.name == "Authorization" })
        #expect(requests[1].headers.contains { $0.name == "Authorization" && $0.value == "Bearer t0ken" })
        #expect(log.all.isEmpty)
    }

    @Test("a beat is tried three times; the first failure is logged without the address, and its end")
    func failures() async {
        let monitor = Monitor([nil, 503, 200, nil, nil, 404, 500, 500, 500, 302, 200])
        let sender = sender(monitor)
        await sender.beat(settings())
        #expect(monitor.requests.count == 3 && log.all.isEmpty, "the third attempt was taken")
        await sender.beat(settings())
        await sender.beat(settings())
        #expect(log.all == ["warning: failed to send the heartbeat: the monitor answered 404"])
        await sender.beat(settings())
        #expect(log.all.count == 2 && log.all.last == "notice: the heartbeat is sent again")
        #expect(!log.all.contains { $0.contains("secret-id") })
    }
}
