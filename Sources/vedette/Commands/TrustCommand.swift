// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore
import VedetteHTTP

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Show a server's certificates, and the pin that trusts its key.",
        discussion: """
            It shakes hands and hangs up: no request and no password is sent. Compare the SHA-256 with what the server's \
            owner tells you, by another way than this network; then write the line that is printed, or say --write.

            Examples:
              vedette trust https://wca.example.com
              vedette trust lab --write
            """)

    @Argument(
        help: "A server or source of the configuration, or an https address.", completion: Completions.serversAndSources
    )
    var subject: String

    @Flag(help: "Write the pin into the server's file.")
    var write = false

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var places: Paths

    func run() async throws {
        let target = try target()
        guard let url = WebURL(target.url), url.scheme == "https" else {
            throw Exit(.usage, "\(target.url) has no certificate: only https:// has")
        }
        if write, target.server.name.isEmpty {
            throw Exit(.usage, "--write needs a server of the configuration; \(subject) is none")
        }
        let probe = CertificateProbe(url, ca: target.server.tls.ca, proxy: target.server.proxy)
        let finding: CertificateProbe.Finding
        do throws(FetchError) {
            finding = try await probe.look()
        } catch {
            throw Exit(.unavailable, "\(error.failure.rawValue): \(error.detail)")
        }
        let report = TrustReport(origin: url.origin, server: target.server, finding: finding)
        if json {
            try Output.print(report.json.bytes)
        } else {
            for line in report.lines(isWritten: write) { try Output.print(line) }
        }
        if write { try save(finding.chain[0].pin, target) }
    }

    private typealias Target = (url: String, server: Server, files: [String])

    private func target() throws -> Target {
        if WebURL(subject) != nil { return (subject, Server(name: ""), []) }
        let configuration = try UserConfiguration.load(places, secrets: .ofSources)
        let (servers, sources) = (configuration.servers, configuration.sources)
        if let server = servers.first(where: { $0.name == subject }), let url = server.url {
            return (url, server, configuration.files)
        }
        if let source = sources.first(where: { $0.name == subject }) {
            return (source.url, source.server, configuration.files)
        }
        let guess = didYouMean(subject, among: servers.map(\.name) + sources.map(\.name))
        let hint = guess ?? "; an address begins with https://"
        throw Exit(.usage, "there is no server or source \(quoted(subject))\(hint)")
    }

    private func save(_ pin: String, _ target: Target) throws {
        do throws(PinEdit.Problem) {
            let written = try PinEdit.write(pin, to: target.server.name, in: target.files)
            let former = written.former.map { $0 == pin ? " (it stood there already)" : " (before: \($0))" } ?? ""
            Output.diagnose("written: \(written.place)\(former)")
        } catch {
            throw Exit(.data, "\(error.detail); write the line by hand")
        }
    }
}
