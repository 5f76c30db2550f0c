// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import vedette

@Suite("doctor: servers and receivers", .timeLimit(.minutes(1)))
struct DoctorNetworkTests {
    let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!

    private func contact(
        _ url: String = "https://lab.example:8443/x", pin: String? = nil, insecure: Bool = false
    ) throws -> Endpoint {
        let tls = TLSPolicy(pin: pin, insecure: insecure)
        return try #require(Endpoint("server lab", url: url, tls: tls, proxy: .environment, trust: "lab"))
    }

    private func check(_ contact: Endpoint, _ knock: ConnectResult, proxy: Bool = false) -> [Finding] {
        EndpointCheck(knocks: [(contact, knock)], now: now, hasProxy: proxy).findings
    }

    @Test("an address keeps its origin alone: the path of a webhook is a secret")
    func origin() throws {
        let hook = try contact("https://Hooks.example/services/T0/secret?key=secret")
        #expect(hook.place == "https://hooks.example" && hook.host == "hooks.example" && hook.port == 443)
        let six = try contact("http://[::1]:8080/x")
        #expect(six.host == "::1" && six.port == 8080 && six.kind == .http)
        let mail = try #require(MailServer("smtps://[::1]"))
        let post = Endpoint("sink mail", mail, tls: TLSPolicy())
        #expect(post.place == "smtps://[::1]:465" && post.host == "::1" && post.kind == .tls)
        let relay = Endpoint("sink mail", try #require(MailServer("smtp://mx.example")), tls: TLSPolicy())
        #expect(relay.place == "smtp://mx.example:587" && relay.kind == .other)
        #expect(Endpoint("x", url: "file:///x", tls: TLSPolicy(), proxy: .none, trust: nil) == nil)
        #expect(!check(hook, .refused("no")).said.contains("secret"))
    }

    @Test("each way of not being reached has its own words and remedy")
    func unreached() throws {
        for (knock, words) in [
            (ConnectResult.unknownName("none"), "leads nowhere"),
            (.refused("Connection refused"), "does not answer (Conn"),
            (.late, "within 5 s"), (.noHandshake("it does not speak TLS"), "does not speak TLS"),
        ] {
            let found = check(try contact(), knock)
            #expect(found.verdicts == [.failure] && found.said.contains(words), "\(found)")
            #expect(found.first?.remedy != nil)
        }
        #expect(check(try contact("http://a.example/"), .refused("x"), proxy: true).verdicts == [.warning])
        #expect(check(try contact("http://a.example/"), .refused("x")).verdicts == [.failure])
        #expect(check(try contact("http://a.example/"), .open).verdicts == [.ok])
    }

    @Test("a certificate: good for so many days, ending soon, doubtful, pinned, another than the pinned one, unchecked")
    func certificates() throws {
        func at(_ days: Int, _ contact: Endpoint, _ doubts: String...) -> [Finding] {
            let end = now.advanced(by: .seconds(86_400 * days + 60))
            return check(contact, .shown(.init(pin: "sha256//own", validUntil: end, doubts: doubts)))
        }
        #expect(at(90, try contact()).said.contains("is good for 90 days"))
        #expect(at(14, try contact()).verdicts == [.ok])
        #expect(at(13, try contact()).verdicts == [.warning])
        let expired = at(-3, try contact(), "it has expired")
        #expect(expired.verdicts == [.failure] && expired.said.contains("`vedette trust lab`"))
        #expect(at(-3, try contact(pin: "sha256//x;sha256//own"), "it has expired").verdicts == [.ok])
        #expect(at(90, try contact(pin: "sha256//x")).verdicts == [.failure])
        #expect(at(90, try contact(insecure: true), "it is signed only by itself").verdicts == [.warning])
    }

    @Test("ten thousand addresses are a few lines: what is good is counted, what fails is told up to a bound")
    func many() throws {
        let contact = try contact()
        var knocks = [(contact: Endpoint, knock: ConnectResult)](repeating: (contact, .open), count: 9000)
        knocks += [(contact: Endpoint, knock: ConnectResult)](repeating: (contact, .late), count: 900)
        knocks += [(contact: Endpoint, knock: ConnectResult)](repeating: (contact, .notTried), count: 100)
        let found = EndpointCheck(knocks: knocks, now: now, hasProxy: false).findings
        #expect(found.count == 1 + 21 + 1)
        #expect(found.said.contains("9000 of 10000 addresses answer") && found.said.contains("and 880 more"))
        #expect(found.said.contains("no time to try 100 addresses more"))
    }

    @Test("a door that takes connections is open, a closed one refused, a name that cannot be is nowhere")
    func knocking() async throws {
        let door = try Door()
        let open = try contact("http://127.0.0.1:\(door.port)/x")
        #expect(await EndpointProbe.knock(at: [open]) == [.open])
        door.shut()
        guard case .refused = await EndpointProbe.knock(at: [open])[0] else { throw DoorProblem() }
        let nowhere = try contact("http://nowhere.invalid/x")
        guard case .unknownName = await EndpointProbe.knock(at: [nowhere])[0] else { throw DoorProblem() }
    }

    @Test("every door is knocked at, in the order of the configuration, also with more of them than at once")
    func order() async throws {
        let door = try Door()
        let (open, wrong) = (try contact("http://127.0.0.1:\(door.port)/"), try contact("http://nowhere.invalid/"))
        let contacts = (0..<100).map { $0 % 9 == 4 ? wrong : open }
        let knocks = await EndpointProbe.knock(at: contacts)
        #expect(knocks.indices.allSatisfy { (knocks[$0] == .open) == ($0 % 9 != 4) })
    }

    @Test("what takes too long is left to itself")
    func within() async {
        let gate = AsyncStream<Void>.makeStream()
        let late: Int? = await vedette.within(.milliseconds(10)) {
            for await _ in gate.stream {}
            return 1
        }
        #expect(late == nil)
        #expect(await vedette.within(.seconds(30)) { 2 } == 2)
    }

    @Test("a sink is looked at as it is written; the options are judged as ever")
    func written() throws {
        func options(_ values: [String: OptionValue], _ kind: String) throws -> SinkConfigurationProbe {
            let entry = try #require(SinkConfigurationProbe.kinds.first { $0.name == kind })
            let services = SinkServices(fetcher: NoFetcher(), clock: SystemClock(), userAgent: "")
            return try #require(try entry.make(Options(values))("s", services) as? SinkConfigurationProbe)
        }
        #expect(try options(["url": .text("https://x.example/y")], "webhook").address == "https://x.example/y")
        #expect(try options(["topic": .text("t")], "ntfy").address == "https://ntfy.sh")
        #expect(try options([:], "desktop").address == nil)
        let chat = try options(["url": .secret(Secret("https://hooks.slack.com/services/T/B/x"))], "slack")
        #expect(Endpoint(chat)?.place == "https://hooks.slack.com")
        #expect(throws: OptionProblem.self) { try options(["command": .list([])], "command") }
    }

    @Test("the program of a command sink, and the place of a file sink")
    func local() throws {
        func findings(_ values: [String: OptionValue], _ kind: String) throws -> [Finding] {
            let entry = try #require(KindRegistry.sinkKinds.first { $0.name == kind })
            let sink = SinkConfigurationProbe(name: "s", kind: entry, options: Options(values))
            return LocalCheck(environment: ["PATH": "/usr/bin:/bin"]).findings(sink)
        }
        func command(_ words: String...) -> [String: OptionValue] { ["command": .list(words.map { .text($0) })] }
        #expect(try findings(command("cat", "-n"), "command").verdicts == [.ok])
        #expect(try findings(command("no-such-program"), "command").verdicts == [.failure])
        #expect(try findings(command("/etc/passwd"), "command").verdicts == [.failure], "it is no program")
        #expect(
            try findings(command("cat").merging(["directory": .text("/nowhere")]) { $1 }, "command").verdicts
                == [.failure])
        let directory = FileManager.default.temporaryDirectory.path
        #expect(try findings(["path": .text(directory + "/\(UUID())")], "file").verdicts == [.ok])
        #expect(try findings(["path": .text("/nowhere/x")], "file").verdicts == [.failure])
        #expect(try findings(["path": .text(directory)], "file").verdicts == [.failure])
        #expect(try findings([:], "stdout").isEmpty)
    }
}

private struct DoorProblem: Error {}

private struct NoFetcher: Fetcher {
    func fetch(_ request: Request) async throws(FetchError) -> Response { throw FetchError(.network, "none") }
}

/// A socket of loopback that listens and answers nothing.
private final class Door {
    private var listener: Int32
    let port: Int

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var (address, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 128) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw DoorProblem() }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { shut() }

    func shut() {
        if listener >= 0 { close(listener) }
        listener = -1
    }
}
