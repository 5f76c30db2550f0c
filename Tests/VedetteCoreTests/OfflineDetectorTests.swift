// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import VedetteCore

@Suite("Offline detector")
struct OfflineDetectorTests {
    private func origins(_ count: Int) -> [String] { (0..<count).map { "https://h\($0).example:443" } }

    private func watching(_ origins: [String], silent: Set<String> = []) -> OfflineDetector {
        var reachability = OfflineDetector()
        reachability.watch(Set(origins), silent: silent)
        return reachability
    }

    /// Each has answered.
    private func alive(_ origins: [String]) -> OfflineDetector {
        var reachability = watching(origins)
        for origin in origins { reachability.answered(origin) }
        return reachability
    }

    @Test("offline is what is so when every host that answered before is silent; the first answer of anybody ends it")
    func offline() {
        let hosts = origins(10)
        var reachability = alive(hosts)
        for host in hosts.dropLast() { reachability.fellSilent(host) }
        #expect(!reachability.isOffline)
        reachability.fellSilent(hosts[9])
        #expect(reachability.isOffline)
        reachability.fellSilent(hosts[3])
        #expect(reachability.isOffline)
        reachability.answered(hosts[7])
        #expect(!reachability.isOffline)
        reachability.fellSilent(hosts[7])
        #expect(reachability.isOffline)
    }

    @Test("a real outage is found although one host has been dead for long, and one has never answered")
    func outageWithDead() {
        let hosts = origins(4)
        var reachability = watching(hosts, silent: [hosts[0]])
        for _ in 0..<2 {
            for host in hosts[..<2] { reachability.fellSilent(host) }
            for host in hosts[2...] { reachability.answered(host) }
        }
        reachability.fellSilent(hosts[2])
        #expect(!reachability.isOffline)
        reachability.fellSilent(hosts[3])
        #expect(reachability.isOffline)
    }

    @Test("the ports of one machine are one witness")
    func ports() {
        let nas = (1...3).map { "https://nas.example:500\($0)" }
        var alone = alive(nas)
        for origin in nas { alone.fellSilent(origin) }
        #expect(!alone.isOffline)
        var reachability = alive(
            nas + ["https://[2001:db8::1]:1", "https://[2001:db8::1]:2", "http://feed.example:80"])
        for origin in nas { reachability.fellSilent(origin) }
        reachability.fellSilent("https://[2001:db8::1]:1")
        #expect(!reachability.isOffline)
        reachability.fellSilent("http://feed.example:80")
        #expect(reachability.isOffline)
    }

    @Test("an answer in between says that there is a network")
    func interrupted() {
        let hosts = origins(4)
        var reachability = alive(hosts)
        reachability.fellSilent(hosts[0])
        reachability.fellSilent(hosts[1])
        reachability.answered(hosts[3])
        reachability.fellSilent(hosts[2])
        #expect(!reachability.isOffline)
    }

    @Test("hosts that have long been dead are no witnesses, however often they are asked")
    func longDead() {
        let hosts = origins(6)
        var reachability = watching(hosts, silent: Set(hosts[..<2]))
        for _ in 0..<5 { for host in hosts[..<2] { reachability.fellSilent(host) } }
        reachability.fellSilent(hosts[2])
        reachability.answered(hosts[3])
        for _ in 0..<5 { for host in hosts[..<3] { reachability.fellSilent(host) } }
        #expect(!reachability.isOffline)
    }

    @Test("where there are two origins both must be silent; with one nothing is concluded")
    func few() {
        var two = alive(origins(2))
        two.fellSilent(origins(2)[0])
        two.fellSilent(origins(2)[0])
        #expect(!two.isOffline)
        two.fellSilent(origins(2)[1])
        #expect(two.isOffline)
        var one = alive(origins(1))
        one.fellSilent(origins(1)[0])
        #expect(!one.isOffline)
    }

    @Test("it starts as it was left, and does not stay offline when there is nobody left to tell")
    func restart() {
        var reachability = OfflineDetector(isOffline: true)
        reachability.watch(Set(origins(3)))
        #expect(reachability.isOffline)
        reachability.watch(Set(origins(1)))
        #expect(!reachability.isOffline)
    }

    @Test(
        "machines on loopback and files are no witnesses",
        arguments: [
            ("http://127.0.0.1:80", false), ("http://127.9.9.9:8080", false), ("http://localhost:80", false),
            ("https://a.localhost:443", false), ("http://localhost.:80", false), ("http://[::1]:80", false),
            ("file:///a", false), ("https://127.example:443", true), ("http://192.168.0.1:80", true),
            ("https://[2001:db8::1]:443", true),
        ])
    func beyondUs(origin: String, counts: Bool) {
        #expect((OfflineDetector.host(origin) != nil) == counts)
        var reachability = alive([origin, "https://a.example:443"])
        reachability.fellSilent(origin)
        reachability.fellSilent("https://a.example:443")
        #expect(reachability.isOffline == counts)
    }

    @Test("only what is no answer at all is silence")
    func silence() {
        let silent = Failure.allCases.filter(OfflineDetector.isSilence)
        #expect(silent == [.resolve, .timeout, .closed, .network])
    }
}

@Suite("Failure grouping")
struct ChorusTests {
    private func delivery(
        _ id: String, _ kind: Event.Kind = .failing, rule: String = "r", sink: String = "k", source: String = "a"
    ) -> Delivery {
        let event = Event(
            id: Identifier(id), kind: kind, time: at(0), source: source, sourceKind: "stub", poll: "p",
            error: Event.Problem(failure: "timeout", detail: "no answer", server: "lab"))
        return Delivery(
            message: Message(id: "msg_\(id)", rule: rule, sink: sink, event: event, title: "", text: ""),
            created: at(0), due: at(0))
    }

    private func boot(_ seconds: Int64) -> BootTime { BootTime(milliseconds: seconds * 1000) }

    @Test("within a minute one message covers the failures of a server, and the others name it")
    func oneMessage() {
        var failureGrouping = FailureGrouping()
        #expect(failureGrouping.grouped(delivery("1"), server: "lab", at: boot(0)).state == .pending)
        let second = failureGrouping.grouped(delivery("2", source: "b"), server: "lab", at: boot(59))
        #expect(second.state == .suppressed)
        #expect(second.reason == "a on lab was reported less than a minute before, in msg_1")
        #expect(failureGrouping.grouped(delivery("3"), server: "lab", at: boot(60)).state == .pending)
        #expect(failureGrouping.grouped(delivery("4"), server: "lab", at: boot(61)).state == .suppressed)
    }

    @Test("other servers, rules, sinks and kinds speak for themselves; events of items always do")
    func apart() {
        var failureGrouping = FailureGrouping()
        let deliveries = [
            delivery("1"), delivery("2", rule: "s"), delivery("3", sink: "l"), delivery("4", .recovered),
            delivery("5", .stale), delivery("6", .suspect), delivery("7", .suspect), delivery("8", .appeared),
            delivery("9", .appeared),
        ]
        #expect(deliveries.allSatisfy { failureGrouping.grouped($0, server: "lab", at: boot(0)).state == .pending })
        #expect(failureGrouping.grouped(delivery("a"), server: "other", at: boot(0)).state == .pending)
    }

    @Test("after a recovery a new failure is announced, and after a failure a recovery")
    func lastWord() {
        var failureGrouping = FailureGrouping()
        let kinds: [Event.Kind] = [.failing, .recovered, .failing, .recovered, .stale, .recovered, .stale]
        for (second, kind) in kinds.enumerated() {
            let said = failureGrouping.grouped(delivery("\(second)", kind), server: "lab", at: boot(Int64(second)))
            #expect(said.state == .pending, "\(second)")
        }
        #expect(failureGrouping.grouped(delivery("7", .stale), server: "lab", at: boot(7)).state == .suppressed)
        #expect(failureGrouping.grouped(delivery("8", .recovered), server: "other", at: boot(8)).state == .pending)
        #expect(failureGrouping.grouped(delivery("9", .stale), server: "lab", at: boot(9)).state == .suppressed)
    }

    @Test("a message that was not committed covers no other failure")
    func unsaid() {
        var failureGrouping = FailureGrouping()
        let first = failureGrouping.grouped(delivery("1"), server: "lab", at: boot(0))
        failureGrouping.undo([first])
        #expect(failureGrouping.grouped(delivery("2"), server: "lab", at: boot(1)).state == .pending)
    }

    @Test("the text of the one message names the server")
    func text() {
        #expect(MessageFormatter.text(of: delivery("1").message.event) == "server lab · no answer")
    }
}
