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

    @Test("another port of a watched host counts as that host, and a host that is not watched as none")
    func otherPort() {
        var detector = alive(["https://a.example:443", "https://b.example:443"])
        detector.fellSilent("https://a.example:443")
        detector.fellSilent("https://c.example:443")
        #expect(!detector.isOffline && !detector.isAwaited("http://a.example:80"))
        detector.fellSilent("http://b.example:80")
        #expect(detector.isOffline)
        detector.answered("https://c.example:443")
        #expect(detector.isOffline)
        detector.answered("http://a.example:80")
        #expect(!detector.isOffline && detector.isAwaited("http://a.example:8080"))
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
