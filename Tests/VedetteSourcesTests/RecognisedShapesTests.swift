// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

/// Shapes of pages and documents that are easily read wrong, in small.
struct RecognisedShapesTests {
    static let shapes: [(String, String, String)] = [
        (
            "a code that differs, beside a word that all share",
            #"{"data":[{"_id":"a","name":"x","state":1,"license_state":"ok"},{"_id":"b","name":"y","state":0,"license_state":"ok"},{"_id":"c","name":"z","state":1,"license_state":"ok"}]}"#,
            "json items=data key=_id title=name state=state state"
        ),
        (
            "things with states by their names, beside an empty list",
            #"{"tags":[],"torrents":{"h1":{"name":"a","state":"uploading"},"h2":{"name":"b","state":"stalled"},"h3":{"name":"c","state":"uploading"}}}"#,
            "json map=torrents title=name state=state state"
        ),
        (
            "a table whose state is an icon",
            page(
                """
                <table id=jobs><thead><tr><th>S<th>Name<th>Last run</tr></thead><tbody>
                <tr id=j_a><td><svg tooltip=""></svg><svg tooltip=Success></svg><td><a href=/a>a</a><td>2 hr</tr>
                <tr id=j_b><td><svg tooltip=""></svg><svg tooltip=Failed></svg><td><a href=/b>b</a><td>5 min</tr>
                <tr id=j_c><td><svg tooltip=""></svg><svg tooltip=Folder></svg><td><a href=/c>c</a><td>N/A</tr></tbody></table>
                """),
            "html items=//table[@id='jobs']//tr[td] key=@id title=td[2] state=td[1]//@tooltip[. != ''] link=.//a/@href notes={last_run:td[3]} state"
        ),
        (
            "a table with tables in its cells, whose first link is of another thing",
            page(
                "<table class=status><tr><th>Host<th>Service<th>Status<th>Duration</tr>"
                    + ["a 1 disk OK", " 2 load CRITICAL", "b 3 disk OK"].map { row in
                        let part = row.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
                        let host =
                            part[0].isEmpty
                            ? "" : "<table><tr><td><a href='?type=1&host=\(part[0])'>\(part[0])</a></td></tr></table>"
                        return """
                            <tr><td>\(host)</td><td><table><tr><td><a href='?type=2&n=\(part[1])'>\(part[2])</a></td><td></td></tr></table></td>
                            <td>\(part[3])</td><td>0d 1h</td></tr>
                            """
                    }.joined() + "</table>"),
            "html items=//table[contains(@class, 'status')]/tr[td] key=td[2]//a/@href title=td[2] state=td[3] link=td[2]//a/@href fields={host:td[1]} notes={duration:td[4]} state"
        ),
        (
            "what one looked at last, beside the list",
            page(
                "<h1>Tables</h1><div class=listing>"
                    + ["a 9", "b 8", "c 7"].map(card).joined()
                    + "</div><div class=product-slider><div>Zuletzt angesehen</div>"
                    + ["d 6", "e 5"].map(card).joined() + "</div>"),
            "html items=//div[contains(@class, 'listing')]/div key=.//a/@href title=.//h3 link=.//a/@href fields={price:.//b[contains(@class, 'price')]} presence"
        ),
        (
            "components without ids, in groups",
            page(
                "<h1>Status</h1>"
                    + ["Web", "Mail"].map { group in
                        "<ul class=list><li class='item group'><strong>\(group)</strong></li>"
                            + ["\(group)-1 Operational 3", "\(group)-2 Outage 5"].map { row in
                                let part = row.split(separator: " ")
                                return
                                    "<li class='item sub'><span class=component-name>\(part[0])</span> <small title='\(part[2]) hours ago'>\(part[1])</small></li>"
                            }.joined() + "</ul>"
                    }.joined()),
            "html items=//li[contains(@class, 'sub')] key=.//span[contains(@class, 'component-name')] title=.//span[contains(@class, 'component-name')] state=.//small state"
        ),
        (
            "a list whose lines are a text and a badge",
            page(
                "<h1>Status</h1><ul class=svc>"
                    + ["Mail up", "Web up", "VPN down"].map { row in
                        let part = row.split(separator: " ")
                        return "<li>\(part[0]) <span class=badge>\(part[1])</span></li>"
                    }.joined() + "</ul>"),
            "html items=//ul[contains(@class, 'svc')]/li key=text()[normalize-space()][1] title=text()[normalize-space()][1] state=.//span[contains(@class, 'badge')] state"
        ),
        (
            "news in blocks that set out the page",
            page(
                "<div class=team><h2>Engineering</h2><div class=opening><a href=/j/1>Backend</a> Berlin</div><div class=opening><a href=/j/2>SRE</a> Bonn</div></div><div class=team><h2>Sales</h2><div class=opening><a href=/j/3>Manager</a> Kiel</div></div>"
            ),
            "html items=//div[contains(@class, 'opening')] key=.//a/@href title=.//a link=.//a/@href presence"
        ),
        (
            "links with the number of a session",
            page(
                "<h1>Topics</h1>"
                    + ["7 News", "5 Rules", "2 Hello"].map { row in
                        let part = row.split(separator: " ")
                        return
                            "<article><h2><a href='t.php?t=\(part[0])&amp;sid=f00'>\(part[1])</a></h2><p>Words.</p></article>"
                    }.joined()),
            "html items=//article key=substring-before(.//a/@href, '&') title=.//h2 link=.//a/@href presence"
        ),
        (
            "XML whose rows need what they stand in",
            "<l><r repo='x' arch='i'><s p='a' code='failed'/><s p='b' code='succeeded'/></r><r repo='x' arch='j'><s p='a' code='building'/><s p='b' code='failed'/></r><r repo='y' arch='i'><s p='a' code='failed'/><s p='b' code='failed'/></r></l>",
            "xml items=/l/r/s key=[@p ../@arch ../@repo] title={{@p}} {{../@arch}} {{../@repo}} state=@code state"
        ),
        (
            "XML of one thing", "<now><station>Kiel</station><weather>Snow</weather><temp>-2</temp></now>",
            "xml fields={station:station weather:weather} key=local-name() fields([\"station\", \"weather\"])"
        ),
        (
            "XML of two namespaces",
            "<a:l xmlns:a='urn:a' xmlns='urn:b'><i id='1'><a:name>x</a:name></i><i id='2'><a:name>y</a:name></i></a:l>",
            "xml items=/x:l/y:i key=@id title=x:name namespaces={x:urn:a y:urn:b} presence"
        ),
        (
            "builds of one name, and the newest has no result yet",
            #"{"nextHref":"/b?start=3","build":[{"id":9,"state":"queued","branchName":"main","buildType":{"name":"Unit"}},{"id":8,"number":"31","status":"FAILURE","state":"running","branchName":"main","buildType":{"name":"Unit"}},{"id":7,"number":"30","status":"SUCCESS","state":"finished","branchName":"dev","buildType":{"name":"Unit"}},{"id":6,"number":"30","status":"SUCCESS","state":"finished","branchName":"dev","buildType":{"name":"Image"}}]}"#,
            "json items=build key=id title={{buildType.name}} #{{number}} state=[state status] mode=window next=nextHref state"
        ),
        (
            "a state inside of an object of that name",
            #"[{"vmId":"a","instanceState":{"code":16,"name":"running"}},{"vmId":"b","instanceState":{"code":80,"name":"stopped"}}]"#,
            "json key=vmId state=instanceState.name state"
        ),
        (
            "an appliance that says everything of its parts",
            #"{"cloud":{"connected":true},"relay:0":{"source":"init","output":false,"power":3},"wifi":{"rssi":-51}}"#,
            "json fields={cloud_connected:cloud.connected relay_0_source:relay:0.source relay_0_output:relay:0.output} fields([\"cloud_connected\", \"relay_0_source\", \"relay_0_output\"])"
        ),
    ]

    private static func page(_ body: String) -> String { "<!doctype html><html><title>t</title>\(body)</html>" }

    private static func card(_ row: String) -> String {
        let part = row.split(separator: " ")
        return
            "<div class=card-body><a href=/p/\(part[0])><h3>Table \(part[0])</h3></a> <b class=price>\(part[1]) €</b></div>"
    }

    @Test("shapes that are easily read wrong get the proposal that a person would write", arguments: shapes)
    func shape(name: String, body: String, expected: String) throws {
        let found = try #require(RecognitionTests.read(Array(body.utf8)))
        #expect(found.line == expected, "\(name)")
    }

    @Test("rows of XML are keyed by an attribute of a namespace, as rdf:about and xml:id are")
    func attributesOfNamespaces() throws {
        func read(_ attribute: String) throws -> (line: String, items: [Item]) {
            let rows = ["up", "down", "up"].enumerated().map { place, state in
                "<i \(attribute)='r\(place)'><status>\(state)</status></i>"
            }
            let list = "<l xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\(rows.joined())</l>"
            return try #require(RecognitionTests.read(Array(list.utf8)))
        }
        for (attribute, key) in [("rdf:about", "@x:about"), ("xml:id", "@xml:id"), ("id", "@id")] {
            let found = try read(attribute)
            #expect(found.line.contains("key=\(key) "), "\(found.line)")
            #expect(found.items.map(\.key) == ["r0", "r1", "r2"])
        }
    }

    @Test("a page of many siblings is recognised in a time that grows with them alone", .timeLimit(.minutes(1)))
    func siblings() {
        let body = Self.page(String(repeating: "<p>Words of a text.</p>", count: 60_000))
        let found = Recogniser.proposals(url: "https://h/", headers: .init(), body: Array(body.utf8))
        #expect(found.contains { $0.kind == "html" })
    }

    @Test("a page that scripts build, a check for robots, and what moves by itself are named")
    func remarks() {
        func first(_ body: String) -> Proposal? {
            Recogniser.proposals(url: "https://h/", headers: .init(), body: Array(Self.page(body).utf8)).first
        }
        #expect(first("<div id=root></div>")?.remarks.contains { $0.contains("scripts build it") } == true)
        #expect(first("<h2>Verifying you are human.</h2>")?.remarks.contains { $0.contains("robots") } == true)
        let counter = first("<main><h1>Terms</h1><p>Words of the law.</p><p class=visitor-count>48 visitors</p></main>")
        #expect(
            counter.map(RecognitionTests.line)
                == "html select=//main ignore=[//p[contains(@class, 'visitor-count')]] text")
    }
}
