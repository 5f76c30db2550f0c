// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteTestSupport

@testable import vedette

@Suite("doctor: servers and receivers", .timeLimit(.minutes(10)))
struct DoctorNetworkTests {
    let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!

    private func endpoint(
        _ url: String = "https://lab.example:8443/x", pin: String? = nil, insecure: Bool = false
    ) throws -> Endpoint {
        let tls = TLSPolicy(pin: pin, insecure: insecure)
        return try #require(Endpoint("server lab", url: url, tls: tls, proxy: .environment, trust: "lab"))
    }

    private func check(_ endpoint: Endpoint, _ result: ConnectResult, proxy: Bool = false) -> [Finding] {
        EndpointCheck(results: [(endpoint, result)], now: now, hasProxy: proxy).findings
    }

    @Test("an address is the origin alone: the path of a webhook is a secret")
    func origin() throws {
        let hook = try endpoint("https://Hooks.example/services/T0/secret?key=secret")
        #expect(hook.address == "https://hooks.example" && hook.target.origin == "https://hooks.example:443")
        let six = try endpoint("http://[::1]:8080/x")
        #expect(six.target.origin == "http://[::1]:8080" && six.kind == .http)
        let mail = try #require(MailServer("smtps://[::1]"))
        let post = try #require(Endpoint("sink mail", mail, tls: TLSPolicy()))
        #expect(post.address == "smtps://[::1]:465" && post.kind == .tls)
        let mx = try #require(MailServer("smtp://mx.example"))
        let relay = try #require(Endpoint("sink mail", mx, tls: TLSPolicy()))
        #expect(relay.address == "smtp://mx.example:587" && relay.kind == .other)
        #expect(Endpoint("x", url: "file:///x", tls: TLSPolicy(), proxy: .none, trust: nil) == nil)
        #expect(!check(hook, .refused("no")).text.contains("secret"))
    }

    @Test("each failure to connect has its own text and remedy; a proxy's answer is not the server's")
    func unreached() throws {
        for (result, words) in [
            (ConnectResult.unknownName, "cannot be resolved"), (.refused("refused"), "does not answer (refused)"),
            (.timeout, "within 5 s"), (.noHandshake("it does not speak TLS"), "does not speak TLS"),
        ] {
            let found = check(try endpoint(), result)
            #expect(found.severities == [.failure] && found.text.contains(words), "\(found)")
            #expect(found.first?.remedy != nil)
        }
        let address = try endpoint().address
        let closed = check(try endpoint(), .refused("\(address) does not accept connections")).text
        #expect(closed.hasPrefix("\(address) does not accept connections"), "its address is named once: \(closed)")
        let server = try #require(MailServer("smtps://mx.example"))
        let mail = try #require(Endpoint("sink post", server, tls: TLSPolicy()))
        #expect(
            check(mail, .noHandshake("https://mx.example:465 does not speak TLS")).text.contains(
                "smtps://mx.example:465 does not speak TLS"))
        #expect(check(try endpoint("http://a.example/"), .connected).text == "http://a.example answers")
        #expect(
            check(try endpoint("http://a.example/"), .connected, proxy: true).text
                == "the proxy of http://a.example answers")
    }

    @Test("a certificate: valid for so many days, expiring soon, invalid, pinned, with another key, unchecked")
    func certificates() throws {
        func at(_ days: Int, _ endpoint: Endpoint, _ problems: String...) -> [Finding] {
            let end = now.advanced(by: .seconds(86_400 * days + 60))
            return check(endpoint, .handshake(.init(pin: "sha256//own", validUntil: end, problems: problems)))
        }
        #expect(at(90, try endpoint()).text.contains("is valid for 90 days"))
        #expect(at(14, try endpoint()).severities == [.ok])
        #expect(at(13, try endpoint()).severities == [.warning])
        let expired = at(-3, try endpoint(), "it has expired")
        #expect(expired.severities == [.failure] && expired.text.contains("`vedette trust lab`"))
        #expect(at(-3, try endpoint(pin: "sha256//x;sha256//own"), "it has expired").severities == [.ok])
        #expect(at(90, try endpoint(pin: "sha256//x")).severities == [.failure])
        #expect(at(90, try endpoint(insecure: true), "it is signed by itself alone").severities == [.warning])
    }

    @Test("ten thousand addresses are a few lines: good ones are counted, failures are listed up to a limit")
    func many() throws {
        let endpoint = try endpoint()
        var results = [(endpoint: Endpoint, result: ConnectResult)](repeating: (endpoint, .connected), count: 9000)
        results += [(endpoint: Endpoint, result: ConnectResult)](repeating: (endpoint, .timeout), count: 900)
        results += [(endpoint: Endpoint, result: ConnectResult)](repeating: (endpoint, .notTried), count: 100)
        let found = EndpointCheck(results: results, now: now, hasProxy: false).findings
        #expect(found.count == 1 + 21 + 1)
        #expect(found.text.contains("9000 of 10000 addresses answer") && found.text.contains("and 880 more"))
        #expect(found.text.contains("no time to try 100 addresses more"))
    }

    @Test("a listening port is connected, a closed one refused, and an unknown name not resolved")
    func connecting() async throws {
        let door = try Door()
        let open = try endpoint("http://127.0.0.1:\(door.port)/x")
        #expect(await EndpointProbe.connect(to: [open]) == [.connected])
        door.shut()
        guard case .refused = await EndpointProbe.connect(to: [open])[0] else { throw DoorProblem() }
        let nowhere = try endpoint("http://nowhere.invalid/x")
        #expect(await EndpointProbe.connect(to: [nowhere]) == [.unknownName])
    }

    @Test("every endpoint is tried, in the order of the configuration, also with more of them than at once")
    func order() async throws {
        let door = try Door()
        let (open, wrong) = (try endpoint("http://127.0.0.1:\(door.port)/"), try endpoint("http://nowhere.invalid/"))
        let endpoints = (0..<100).map { $0 % 9 == 4 ? wrong : open }
        let results = await EndpointProbe.connect(to: endpoints)
        #expect(results.indices.allSatisfy { (results[$0] == .connected) == ($0 % 9 != 4) })
    }

    @Test("work that takes too long goes on in the background")
    func within() async {
        let gate = AsyncStream<Void>.makeStream()
        let late: Int? = await vedette.within(.milliseconds(10)) {
            for await _ in gate.stream {}
            return 1
        }
        #expect(late == nil)
        #expect(await vedette.within(.seconds(30)) { 2 } == 2)
    }

    @Test("a sink is probed as configured; its options are validated as ever")
    func configured() throws {
        func options(_ values: [String: OptionValue], _ kind: String) throws -> SinkConfigurationProbe {
            let entry = try #require(SinkConfigurationProbe.kinds.first { $0.name == kind })
            let services = SinkServices(fetcher: NoFetcher(), clock: SystemClock(), userAgent: "")
            return try #require(try entry.make(Options(values))("s", services) as? SinkConfigurationProbe)
        }
        #expect(try options(["url": .text("https://x.example/y")], "webhook").address == "https://x.example/y")
        #expect(try options(["topic": .text("t")], "ntfy").address == "https://ntfy.sh")
        #expect(try options([:], "desktop").address == nil)
        let chat = try options(["url": .secret(Secret("https://hooks.slack.com/services/T/B/x"))], "slack")
        #expect(Endpoint(chat)?.address == "https://hooks.slack.com")
        #expect(throws: OptionProblem.self) { try options(["command": .list([])], "command") }
    }

    @Test("the program of a command sink, and the directory of a file sink")
    func local() throws {
        func findings(_ values: [String: OptionValue], _ kind: String) throws -> [Finding] {
            let entry = try #require(KindRegistry.sinkKinds.first { $0.name == kind })
            let sink = SinkConfigurationProbe(name: "s", kind: entry, options: Options(values))
            return ProgramsAndFilesCheck(environment: ["PATH": "/usr/bin:/bin"]).findings(sink)
        }
        func command(_ words: String...) -> [String: OptionValue] { ["command": .list(words.map { .text($0) })] }
        #expect(try findings(command("cat", "-n"), "command").severities == [.ok])
        #expect(try findings(command("no-such-program"), "command").severities == [.failure])
        #expect(try findings(command("/etc/passwd"), "command").severities == [.failure], "it is not a program")
        #expect(
            try findings(command("cat").merging(["directory": .text("/nowhere")]) { $1 }, "command").severities
                == [.failure])
        let directory = FileManager.default.temporaryDirectory.path
        #expect(try findings(["path": .text(directory + "/\(UUID())")], "file").severities == [.ok])
        #expect(try findings(["path": .text("/nowhere/x")], "file").severities == [.failure])
        #expect(try findings(["path": .text(directory)], "file").severities == [.failure])
        #expect(try findings([:], "stdout").isEmpty)
    }
}

@Suite("doctor: programs of sources", .timeLimit(.minutes(10)))
struct DoctorProgramTests {
    @Test("a jq program that does not compile, and a command's program that is missing, name their sources")
    func programs() throws {
        let entry = try #require(KindRegistry.sourceKinds.first { $0.name == "json" })
        func source(_ name: String, url: String = "https://a.example/", jq: String? = nil) throws -> Source {
            let options = Options(jq.map { ["jq": OptionValue.text($0)] } ?? [:])
            return Source(
                name: name, kindName: "json", kind: try entry.make(options), server: Server(name: ""), url: url,
                interval: PollInterval(every: .seconds(60)))
        }
        let found = ProgramsAndFilesCheck(environment: ["PATH": "/usr/bin:/bin"]).findings(
            [
                try source("good", jq: ".a"), try source("runs", jq: ".[] |"),
                try source("units", url: CommandURL.text(["no-such-program", "-x"])),
                try source("list", url: CommandURL.text(["cat", "/x"])),
            ], JQTransformer())
        #expect(found.severities == [.failure, .failure])
        #expect(found.first?.subject == "source units")
        #expect(found.first?.text.contains("the program no-such-program is missing") == true)
        #expect(found.last?.text.hasPrefix("source runs: the jq program is not valid: ") == true)
    }
}

private struct DoorProblem: Error {}

private struct NoFetcher: AwaitingFetcher {
    func answer(to request: Request) async throws(FetchError) -> Response { throw FetchError(.network, "none") }
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
