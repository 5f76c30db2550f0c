// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("The cloudburst kind's linked resources and versions")
struct CloudBurstLinkTests {
    private static let base = "https://appliance.example.org"

    private func kind(_ expand: [String] = [], _ options: [String: OptionValue] = [:]) throws -> any SourceKind {
        var all = options.merging(CloudBurstTests.codes) { a, _ in a }
        if !expand.isEmpty { all["expand"] = .list(expand.map(OptionValue.text)) }
        return try Fixture.kind("cloudburst", all)
    }

    private func system() throws -> Item {
        var page = try Fixture.page("cloudburst-virtualSystems-1.json", url: Self.base + "/resources/virtualSystems")
        return try #require(try kind().read(&page).items.first { $0.key == "59" })
    }

    private func notes(_ name: String, _ fixture: String) throws -> Fields {
        var page = try Fixture.page(fixture, url: Self.base)
        return try kind().read(ItemLink(name, url: Self.base), &page)
    }

    @Test("only the resources that expand names are linked, but all of them for `show`")
    func links() throws {
        let item = try system()
        #expect(try kind().links(of: item, base: Self.base, all: false).isEmpty)
        let some = try kind(["machines", "owner"]).links(of: item, base: Self.base, all: false)
        #expect(
            some == [
                ItemLink("owner", url: Self.base + "/resources/users/15", lifetime: .seconds(3600)),
                ItemLink("machines", url: Self.base + "/resources/virtualSystems/59/virtualMachines", lifetime: .zero),
            ])
        let all = try kind().links(of: item, base: Self.base, all: true)
        #expect(all.map(\.name) == ["detail", "owner", "pattern", "machines"])
        #expect(all[0] == ItemLink("detail", url: Self.base + "/resources/virtualSystems/59", lifetime: .zero))
        #expect(all[2].url == Self.base + "/resources/patterns/43")
    }

    @Test("a missing link and a link to another origin are ignored")
    func foreignLinks() throws {
        var item = try system()
        for foreign in [
            "https://evil.example/users/6", "//evil.example/6", "http://appliance.example.org/6", "javascript:x",
        ] {
            item.fields["owner"] = .text(foreign)
            item.fields["pattern"] = nil
            #expect(try kind(["owner", "pattern"]).links(of: item, base: Self.base, all: false).isEmpty, "\(foreign)")
        }
    }

    @Test("owner and pattern add their names, a user's from fullname")
    func names() throws {
        #expect(try notes("owner", "cloudburst-user-6.json") == ["owner_name": "Nina Ruiz"])
        var page = PageBody(bytes: Array(#"{"id": 43, "name": "WAS lab"}"#.utf8), url: Self.base)
        #expect(try kind().read(ItemLink("pattern", url: Self.base), &page) == ["pattern_name": "WAS lab"])
        page.bytes = Array(#"{"id": 43}"#.utf8)
        #expect(try kind().read(ItemLink("pattern", url: Self.base), &page).isEmpty)
    }

    @Test("machines are told by name, state from the code and public address")
    func machines() throws {
        let read = try notes("machines", "cloudburst-virtualSystem-59-virtualMachines.json")
        #expect(read == ["machines": .list(["WAS lab clone 05 node 1: Ready for use 192.0.2.59"])])
        let body = """
            [{"id": 1, "currentstatus_text": "Started", "nics": []}, {"identifier": "b", "nics": [{"ip_address": "10.0.0.7"}]},
             {"name": "c", "currentstatus": "RM01901", "nics": "none"}]
            """
        var page = PageBody(bytes: Array(body.utf8), url: Self.base)
        let machines = try kind().read(ItemLink("machines", url: Self.base), &page)["machines"]
        #expect(machines == .list(["1: Started", "b: 10.0.0.7", "c: Queued"]))
    }

    @Test("the detail adds the desired state, if any")
    func detail() throws {
        let read = try notes("detail", "cloudburst-virtualSystem-59.json")
        #expect(read["state_text"] == "Avviato" && read["message_text"] == "Ready for use" && read["desired"] == nil)
        var page = PageBody(bytes: Array(#"{"id": 59, "desiredstatus": "RM01006"}"#.utf8), url: Self.base)
        #expect(try kind().read(ItemLink("detail", url: Self.base), &page) == ["desired": "Started"])
    }

    @Test("an error body of a linked resource is an error, never a name")
    func wrongBodies() throws {
        for (text, name) in [
            ("<html>401</html>", "owner"), ("[]", "pattern"), (#"{"name": "x""#, "detail"), ("", "machines"),
        ] {
            var page = PageBody(bytes: Array(text.utf8), url: Self.base)
            #expect(throws: ReadError.self, "\(name)") { try kind().read(ItemLink(name, url: Self.base), &page) }
        }
    }

    @Test(
        "the version goes in the header of the product",
        arguments: [
            (nil, nil, nil), ("cloudburst", nil, "X-CloudBurst-API-Version: 1.0"),
            (nil, "1.1", "X-CloudBurst-API-Version: 1.1"),
            ("workload-deployer", "5.0.0.1", "X-IBM-Workload-Deployer-API-Version: 5.0.0.1"),
            ("pure-system", nil, "X-IBM-PureSystem-API-Version: 2.0"),
        ] as [(String?, String?, String?)])
    func versions(flavour: String?, version: String?, expected: String?) throws {
        var options: [String: OptionValue] = [:]
        options["flavour"] = flavour.map(OptionValue.text)
        options["api_version"] = version.map(OptionValue.text)
        let headers = try kind([], options).request(base: Self.base, context: PollContext()).headers
        let sent = headers.filter { $0.name.hasSuffix("Version") }.map { "\($0.name): \($0.value)" }
        #expect(sent == [expected].compactMap { $0 })
    }

    @Test("an invalid version is refused")
    func badVersion() {
        for version in ["", "two", "1.0\r\nX: y"] {
            #expect(throws: OptionProblem.self) { try kind([], ["api_version": .text(version)]) }
        }
    }
}
