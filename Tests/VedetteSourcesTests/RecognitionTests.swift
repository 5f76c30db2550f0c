// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteSources

struct RecognitionTests {
    /// A proposal on one line, without its remarks.
    static func line(_ proposal: Proposal) -> String {
        let options = proposal.options.map { option in
            switch option.value {
            case .text(let text), .body(let text): "\(option.name)=\(text)"
            case .flag(let flag): "\(option.name)=\(flag)"
            case .list(let texts): "\(option.name)=[\(texts.joined(separator: " "))]"
            case .map(let pairs): "\(option.name)={\(pairs.map { "\($0.name):\($0.value)" }.joined(separator: " "))}"
            }
        }
        return ([proposal.kind] + options + ["\(proposal.hint)"]).joined(separator: " ")
    }

    /// The first proposal that its kind reads, as `probe` takes it, and what is read.
    static func read(_ body: [UInt8], url: String = "https://api.example.com/", headers: ResponseHeaders = .init()) -> (
        line: String, items: [Item]
    )? {
        for proposal in Recogniser.proposals(url: url, headers: headers, body: body) {
            guard let entry = SourceKinds.all.first(where: { $0.name == proposal.kind }),
                let options = proposal.options(for: entry, pattern: { _ in nil }), let kind = try? entry.make(options)
            else { continue }
            var page = PageBody(bytes: body, headers: headers, url: url)
            if let read = try? kind.read(&page) { return (line(proposal), read.items) }
        }
        return nil
    }

    @Test("each system's response is recognised, and read as proposed", arguments: answers)
    func systems(name: String, count: Int, expected: String) throws {
        let found = try #require(Self.read(try Fixture.bytes(name)))
        #expect(found.line == expected)
        #expect(found.items.count == count)
        #expect(Set(found.items.map(\.key)).count == count)
    }

    @Test(
        "an id of its own keys a row, not the name beside it", arguments: ["vm", "uuid", "deviceId", "node_id", "paid"])
    func idBesideName(name: String) throws {
        let rows = #"[{"name":"a","\#(name)":"v1","power":"on"},{"name":"b","\#(name)":"v2","power":"on"}]"#
        let found = try #require(Self.read(Array(rows.utf8)))
        #expect(found.line.hasPrefix("json key=\(name == "paid" ? "name" : name) "), "\(found.line)")
    }

    @Test("JSON behind a prefix, in a call and on lines is recognised as JSON")
    func wrapped() throws {
        for name in ["12-prefix", "13-jsonp", "14-ndjson"] {
            let found = try #require(Self.read(try Fixture.bytes("pages/\(name).json")))
            #expect(found.line.hasPrefix("json key=id title=name state=status"))
            #expect(
                found.line.contains("jsonp=true") == (name == "13-jsonp") && found.items.map(\.key) == ["1", "2"],
                "\(found.line)")
        }
    }

    @Test("an object where other responses have a list of such rows is one row, as XML has it that became JSON")
    func onlyRow() throws {
        for (file, count) in [("evri1", 1), ("evri2", 2)] {
            let found = try #require(Self.read(try Fixture.bytes("pages/\(file).json")))
            #expect(
                found.line
                    == "json items=evriThing.graph.entities.entity null_is_empty=true key=@href title=name.$ link=@href presence"
            )
            #expect(found.items.count == count)
        }
        let host = #"{"hosts":{"host":{"id":"7","name":"a","status":"up"}}}"#
        #expect(
            Self.read(Array(host.utf8))?.line
                == "json items=hosts.host null_is_empty=true key=id title=name state=status state")
        for other in [
            #"{"user":{"id":1,"name":"x","status":"up"}}"#,
            #"{"hosts":{"total":{"count":3,"status":"up"}},"status":"up"}"#,
        ] {
            #expect(Self.read(Array(other.utf8))?.line.contains("items=") != true)
        }
    }

    @Test("only some of thousands of different elements are tried as rows")
    func manyNames() throws {
        let text = "<r>" + (0..<4000).map { "<e\($0)><id>\($0)</id></e\($0)>" }.joined() + "</r>"
        let proposals = Recogniser.proposals(url: "https://h/", headers: .init(), body: Array(text.utf8))
        #expect(proposals.filter { $0.kind == "xml" }.count <= 200)
        // The rows are found, though many names stand beside them.
        let rows = (0..<50).map { "<row id='\($0)'/>" }.joined()
        let mixed = "<r>" + rows + (0..<300).map { "<a\($0)/>" }.joined() + "</r>"
        #expect(Self.read(Array(mixed.utf8))?.line.contains("items=/r/row key=@id") == true)
    }

    static let answers: [(String, Int, String)] = [
        ("cloudburst-virtualSystems-1.json", 8, "cloudburst state"),
        (
            "cloudburst-virtualSystem-59-virtualMachines.json", 1,
            "json key=id title=name state=currentstatus time=updated state"
        ),
        ("connections-public-1.xml", 20, "connections arrivals"),
        ("connections-activitystreams-public.json", 3, "connections format=json arrivals"),
        ("connections-public-empty.xml", 0, "connections arrivals"),
        (
            "google-search.json", 4,
            "json items=responseData.results key=url title=title html=[title] link=url require={responseStatus:200} presence"
        ),
        (
            "presets/awx-1.json", 3,
            "json items=results key=id title=name state=status time=modified fields={type:type} mode=window next=next state"
        ),
        (
            "presets/cloud-pak-system-1.json", 2,
            "json key=id title=deployment_name state=status time=updated fields={version:version} state"
        ),
        (
            "presets/github-actions-2.json", 3,
            "json items=workflow_runs key=id title=display_title state=[status conclusion] link=html_url time=updated_at fields={branch:head_branch actor:actor.login} state"
        ),
        ("presets/github-releases-2.atom", 2, "feed arrivals"),
        (
            "presets/gitlab-ci-1.json", 2,
            "json key=id title={{ref}} #{{iid}} state=status link=web_url time=updated_at state"
        ),
        (
            "presets/jenkins-1.json", 3,
            "json items=jobs key=name title=name state=[color lastBuild.result] link=url state"
        ),
        (
            "presets/kubernetes-1.json", 2,
            "json items=items key=metadata.uid title=metadata.name state=status.phase time=metadata.creationTimestamp fields={namespace:metadata.namespace} paging={cursor:metadata.continue parameter:continue} state"
        ),
        ("presets/mastodon-2.json", 3, "json key=id title=content html=[title] link=url time=created_at presence"),
        ("presets/openstack-nova-1.json", 2, "json items=servers key=id title=name state=status time=updated state"),
        (
            "presets/proxmox-1.json", 4,
            "json items=data key=id title=name state=status fields={node:node type:type} state"
        ),
        (
            "presets/statuspage-components-1.json", 2,
            "json items=components key=id title=name state=status time=updated_at state"
        ),
        ("presets/statuspage-incidents-1.json", 0, "json items=incidents key=id presence"),
        (
            "presets/statuspage-incidents-2.json", 1,
            "json items=incidents key=id title=name state=status link=shortlink time=updated_at fields={impact:impact} state"
        ),
        (
            "evri-entities.xml", 3,
            "xml items=/evriThing/graph/entities/entity key=@href title=name link=@href require={/*/@status:OK} presence"
        ),
    ]

    /// Bodies in small, and what a person would write for them. Of pages, rows with a state or a price are a list, dated ones a window.
    static let bodies: [(String, String, String)] = [
        (
            "a shop whose reduced prices stand behind the ones of before, and whose rows begin with another link",
            page(
                """
                <h1>Coffee</h1><ul class=products><li class=product><a href=/wish?n=1>+</a><a href=/p/1><h2>Brasil</h2></a>
                <span class=price><del><span class=amount>17,90 €</span></del> <ins><span class=amount>15,90 €</span></ins></span></li>
                <li class=product><a href=/wish?n=2>+</a><a href=/p/2><h2>Java</h2></a><span class=price><span class=amount>9,90 €</span></span></li>
                <li class=product><a href=/wish?n=3>+</a><a href=/p/3><h2>Peru</h2></a><span class=price><span class=amount>8,90 €</span></span></li></ul>
                """, []),
            "html items=//li[contains(@class, 'product')] key=.//a[.//h2]/@href title=.//h2 link=.//a[.//h2]/@href fields={price:.//span[contains(@class, 'amount')][not(ancestor::del or ancestor::s)]} presence"
        ),
        (
            "a state in a longer name, and a reason beside it",
            #"{"MetricAlarms":[{"AlarmName":"a","StateReason":"x > 1","StateValue":"OK"},{"AlarmName":"b","StateReason":"y > 2","StateValue":"ALARM"}]}"#,
            "json items=MetricAlarms key=AlarmName title=AlarmName state=StateValue state"
        ),
        (
            "a state with a result below it, newest first",
            #"{"values":[{"uuid":"u2","state":{"name":"COMPLETED","result":{"name":"FAILED"}},"created_on":"2026-11-21T10:00:00Z"},{"uuid":"u1","state":{"name":"BUILDING"},"created_on":"2026-11-20T10:00:00Z"}],"next":"https://h/2"}"#,
            "json items=values key=uuid state=[state.name state.result.name] time=created_on mode=window next=next state"
        ),
        (
            "a map of things beside a truth value of its own",
            #"{"hostname":"h","status":true,"alarms":{"cpu":{"name":"cpu","status":"CLEAR"},"ram":{"name":"ram","status":"WARNING"}}}"#,
            "json map=alarms title=name state=status state"
        ),
        (
            "an empty list beside links of HAL",
            #"{"total":0,"_embedded":{"elements":[]},"_links":{"exports":[{"href":"/a","identifier":"csv"},{"href":"/b","identifier":"pdf"}]}}"#,
            "json items=_embedded.elements key=id presence"
        ),
        (
            "a table of job offers",
            page(
                """
                <nav><ul><li><a href=/a>A</a><li><a href=/b>B</a></ul></nav><h1>Jobs</h1><table id=jobs><thead><tr><th>Ref</th><th>Position</th>
                <th>Location</th></tr></thead><tr><td>J1</td><td><a href=/j/1>Nurse</a></td><td>Bonn</td></tr><tr><td>J2</td><td><a href=/j/2>Cook</a></td>
                <td>Bonn</td></tr><tr><td>J3</td><td><a href=/j/3>Nurse</a></td><td>Kiel</td></tr></table>
                """, []),
            "html items=//table[@id='jobs']//tr[td] key=.//a/@href title=td[2] link=.//a/@href fields={ref:td[1] location:td[3]} presence"
        ),
        (
            "a shop with data attributes",
            page(
                "<h1>Tea</h1><div class=grid>",
                ["7 Assam 4,50 auf_Lager", "8 Darjeeling 6,20 ausverkauft", "9 Sencha 5,10 auf_Lager"].map { row in
                    let part = parts(row)
                    return """
                        <div class="product-item new" data-pid=\(part[0])><a href=/t/\(part[0])><img src=x></a><h3>\(part[1])</h3>
                        <span class=old-price>9,99 €</span><span class=price>\(part[2]) €</span><p class=product-item__stock>\(part[3])</p></div>
                        """
                }, "</div>"),
            "html items=//div[@data-pid] key=@data-pid title=.//h3 state=.//p[contains(@class, 'product-item__stock')] link=.//a/@href fields={price:.//span[@class='price']} state"
        ),
        (
            "cards in two rows of a grid",
            page(
                "<h1>Maps</h1>",
                ["1 Alps 12", "2 Eifel 9", "3 Harz 9", "4 Jura 14"].map { row in
                    let part = parts(row)
                    let card =
                        "<div class='card h-100'><h5>\(part[1])</h5><p class=text>A map</p><b class=price>£\(part[2])</b><a href=/m?\(part[0])>Buy</a></div>"
                    let isFirst = Int(part[0]) == 1 || Int(part[0]) == 3
                    return (isFirst ? "<div class=row>" : "") + "<div class=col-6>\(card)</div>"
                        + (isFirst ? "" : "</div>")
                }),
            "html items=//div[contains(@class, 'card')] key=.//a/@href title=.//h5 link=.//a/@href fields={price:.//b[contains(@class, 'price')]} presence"
        ),
        (
            "services with a state, without links",
            page(
                "<h1>Status</h1><ul class=legend><li>Up<li>Down</ul><p>As of 10:31</p><ul class=services>",
                ["Mail Up", "Web Up", "Chat Down"].map { row in
                    let part = parts(row)
                    return
                        "<li><span class=service-name>\(part[0])</span> <span class=service-status>\(part[1])</span></li>"
                }, "</ul>"),
            "html items=//ul[contains(@class, 'services')]/li key=.//span[contains(@class, 'service-name')] title=.//span[contains(@class, 'service-name')] state=.//span[contains(@class, 'service-status')] state"
        ),
        (
            "a table of checks of which two columns are the key",
            page(
                "<table class=checks><tr><th>Host<th>Service<th>Status<th>Last check</tr>",
                ["a disk OK 10:31:07", "a load OK 10:31:09", "b disk WARNING 10:30:55", "b load OK 10:31:01"].map {
                    row in
                    "<tr><td>" + parts(row).joined(separator: "<td>") + "</tr>"
                }, "</table>"),
            "html items=//table[contains(@class, 'checks')]//tr[td] key=[td[1] td[2]] title=td[2] state=td[3] fields={host:td[1]} notes={last_check:td[4]} state"
        ),
        (
            "news with dates",
            page(
                "<h1>News</h1>",
                ["c 2026-11-21", "b 2026-11-20", "a 2026-11-18"].map { row in
                    let part = parts(row)
                    return """
                        <article class=teaser><h2><a href=/n/\(part[0])>News \(part[0])</a></h2><time datetime=\(part[1])>\(part[1])</time>
                        <p>Something happened, and here are some words about it.</p></article>
                        """
                }, "<aside><ul><li><a href=/p/1>Popular</a><li><a href=/p/2>Popular too</a></ul></aside>"),
            "html items=//article key=.//a/@href title=.//h2 link=.//a/@href time=.//time/@datetime mode=window arrivals"
        ),
        (
            "releases with ids",
            page(
                "<h1>Release notes</h1>",
                ["v1-2-0 1.2.0", "v1-1-9 1.1.9", "v1-1-8 1.1.8"].map { row in
                    let part = parts(row)
                    return
                        "<section class=release id=\(part[0])><h2>Version \(part[1])</h2><ul><li>Mend this<li>Mend that</ul></section>"
                }),
            "html items=//section[contains(@class, 'release')] key=@id title=.//h2 mode=window arrivals"
        ),
        (
            "one product beside others",
            page(
                "<div class=product-detail><h1>Tent</h1><div class=price><span>149,95 €</span></div><p class='stock out'>Out of stock</p><button>Add to cart</button></div><ul class=similar>",
                ["a 99", "b 120", "c 200"].map { row in
                    "<li class=tile><a href=/p/\(parts(row)[0])>Tent \(parts(row)[0])</a> <span class=price>\(parts(row)[1]) €</span></li>"
                }, "</ul>"),
            "html select=//h1 title=//h1 fields={price://div[contains(@class, 'price')] availability://p[contains(@class, 'stock')]} fields([\"price\", \"availability\"])"
        ),
        (
            "terms of use are a text",
            page(
                "<main><h1>Terms</h1>",
                ["a Scope", "b Liability", "c Law"].map { row in
                    "<section id=\(parts(row)[0])><h2>\(parts(row)[1])</h2><p>\(String(repeating: "Words of the law. ", count: 20))</p></section>"
                }, "</main>"),
            "html select=//main text"
        ),
        (
            "rows without a key stay a page",
            page(
                "<table><tr><th>Team<th>Status</tr>", ["up", "down", "up"].map { "<tr><td>A<td>\($0)</tr>" }, "</table>"
            ),
            "html text"
        ),
        (
            "numbers and words as states of one list",
            #"[{"entity_id":"light.a","state":"on","attributes":{"friendly_name":"A"}},{"entity_id":"sensor.b","state":"4.3","attributes":{"friendly_name":"B"}},{"entity_id":"switch.c","state":"off","attributes":{"friendly_name":"C"}}]"#,
            "json key=entity_id title=attributes.friendly_name state=state state"
        ),
        (
            "titles below attributes",
            #"{"data":[{"id":"1","type":"m","attributes":{"public_name":"Web","status":"up"}},{"id":"2","type":"m","attributes":{"public_name":"API","status":"down"}}]}"#,
            "json items=data key=id title=attributes.public_name state=attributes.status fields={type:type} state"
        ),
        (
            "titles that are null in most rows",
            #"[{"id":9,"ref":"main","name":null,"status":"running"},{"id":8,"ref":"dev","name":"Nightly","status":"failed"},{"id":7,"ref":"main","name":null,"status":"success"}]"#,
            "json key=id title=[name ref] state=status state"
        ),
        (
            "titles that some rows lack",
            #"{"data":[{"id":"qemu/1","name":"web","status":"running"},{"id":"qemu/2","name":"db","status":"stopped"},{"id":"node/a","status":"online"}]}"#,
            "json items=data key=id title=[name id] state=status state"
        ),
        (
            "alerts of which one lacks a label",
            #"{"status":"success","data":{"alerts":[{"labels":{"alertname":"Down","instance":"a"},"annotations":{"summary":"a"},"state":"firing"},{"labels":{"alertname":"Down","instance":"b"},"annotations":{"summary":"b"},"state":"pending"},{"labels":{"alertname":"Down"},"annotations":{"summary":"all"},"state":"firing"}]}}"#,
            "json items=data.alerts key=labels title=annotations.summary state=state require={status:success} state"
        ),
        (
            "no alert now", #"{"status":"success","data":{"alerts":[]}}"#,
            "json items=data.alerts key=labels title=[annotations.summary labels.alertname] state=state require={status:success} state"
        ),
        (
            "more incidents than components",
            #"{"page":{"id":"p"},"components":[{"id":"c1","name":"Web","status":"up"},{"id":"c2","name":"API","status":"down"}],"incidents":[{"id":"i1","name":"x","status":"open","shortlink":"https://s/1"},{"id":"i2","name":"y","status":"open","shortlink":"https://s/2"},{"id":"i3","name":"z","status":"closed","shortlink":"https://s/3"}]}"#,
            "json items=components key=id title=name state=status state"
        ),
        (
            "edges of GraphQL",
            #"{"data":{"repository":{"issues":{"edges":[{"node":{"id":"I1","title":"a","state":"OPEN"}},{"node":{"id":"I2","title":"b","state":"CLOSED"}}]}}}}"#,
            "json items=data.repository.issues.edges key=node.id title=node.title state=node.state state"
        ),
        (
            "features of GeoJSON",
            #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"us1","properties":{"title":"M 4.1","status":"reviewed"},"geometry":{"type":"Point"}},{"type":"Feature","id":"us2","properties":{"title":"M 5.0","status":"automatic"},"geometry":{"type":"Point"}}]}"#,
            "json items=features key=id title=properties.title state=properties.status fields={type:type} state"
        ),
        (
            "codes that rows share",
            #"[{"id":1,"label":"a","status":1},{"id":2,"label":"b","status":0},{"id":3,"label":"c","status":1}]"#,
            "json key=id title=label state=status state"
        ),
    ]

    private static func parts(_ row: String) -> [String] {
        row.split(separator: " ").map { String($0).replacing("_", with: " ") }
    }

    private static func page(_ start: String, _ rows: [String], _ end: String = "") -> String {
        "<!doctype html><html><title>t</title><header><a href=/>Home</a></header>\(start)\(rows.joined())\(end)<footer><a href=/i>Imprint</a></footer></html>"
    }

    @Test("rows of pages and of JSON get the proposal that a person would write", arguments: bodies)
    func body(name: String, body: String, expected: String) throws {
        let found = try #require(Self.read(Array(body.utf8)))
        #expect(found.line == expected, "\(name)")
    }

    @Test("a page after the first makes the newest a window, by Link header or by address")
    func windows() throws {
        let rows =
            #"[{"id":2,"text":"b","created_at":"2026-11-21T10:00:00Z"},{"id":1,"text":"a","created_at":"2026-11-20T10:00:00Z"}]"#
        let link = ResponseHeaders([("Link", "</page/2>; rel=\"next\"")])
        #expect(Self.read(Array(rows.utf8))?.line == "json key=id title=text time=created_at presence")
        #expect(
            Self.read(Array(rows.utf8), headers: link)?.line
                == "json key=id title=text time=created_at mode=window arrivals")
        let body = #"{"data":\#(rows),"links":{"next":"/page/2"},"ok":true}"#
        #expect(
            Self.read(Array(body.utf8))?.line
                == "json items=data key=id title=text time=created_at mode=window next=links.next require={ok:true} arrivals"
        )
    }

    @Test("a key is what is unique in every row; a state is a word that rows share")
    func columns() throws {
        func line(_ rows: String) -> String? { Self.read(Array(rows.utf8))?.line }
        #expect(line(#"[{"id":1,"uuid":"a"},{"id":1,"uuid":"b"}]"#) == "json key=uuid presence")
        #expect(
            line(#"[{"type":"a","id":1},{"type":"b","id":1}]"#) == "json key=[type id] title={{type}} {{id}} presence")
        #expect(
            line(#"[{"host":"a","name":"x"},{"host":"b","name":"x"}]"#) == "json key=[host name] title=name presence")
        let numbers = Recogniser.proposals(
            url: "https://h/", headers: .init(), body: Array(#"[{"weight":1},{"weight":2}]"#.utf8))
        #expect(numbers.map(\.kind) == ["http"], "a number that changes is no key")
        #expect(line(#"[{"id":1,"status":5},{"id":2,"status":6}]"#) == "json key=id presence", "a number is no state")
        #expect(line(#"[{"id":1,"jobState":"up"},{"id":2,"jobState":"down"}]"#) == "json key=id state=jobState state")
        let many = (0..<40).map { #"{"id":\#($0),"status":"s\#($0)"}"# }.joined(separator: ",")
        #expect(line("[\(many)]") == "json key=id presence", "a word of its own for each row is no state")
        #expect(line(#"{"a.b":[{"id":1}]}"#) == #"json items=a\.b key=id presence"#)
    }

    @Test("a key is never a time or the id of something else, and a list's own id comes before a name")
    func keys() throws {
        func line(_ body: String) -> String? { Self.read(Array(body.utf8))?.line }
        #expect(
            line(#"{"hosts":[{"parentid":7,"hostid":"1","name":"a"},{"parentid":8,"hostid":"2","name":"b"}]}"#)
                == "json items=hosts key=hostid title=name presence")
        #expect(
            line(#"[{"fingerprint":"f1","name":"x"},{"fingerprint":"f2","name":"x"}]"#)
                == "json key=fingerprint title=name presence")
        #expect(
            line(
                #"[{"user_id":1,"at":"2026-11-21T10:00:00Z","word":"a"},{"user_id":2,"at":"2026-11-22T10:00:00Z","word":"b"}]"#
            )?
            .contains("key=word") == true)
        let checks = (0..<6).map { #"{"name":"n\#($0)","attrs":{"state":\#($0 % 3)}}"# }.joined(separator: ",")
        #expect(line("[\(checks)]") == "json key=name title=name state=attrs.state state")
    }

    @Test("an object of like objects is a map, and a list of texts has its texts as items")
    func mapsAndTexts() throws {
        func line(_ body: String) -> String? { Self.read(Array(body.utf8))?.line }
        #expect(
            line(#"{"hosts":{"web":{"status":"UP"},"db":{"status":"UP","x":1}}}"#)
                == "json map=hosts state=status state")
        #expect(line(#"{"repositories":["alpine","vedette"]}"#) == "json items=repositories presence")
        #expect(line(#"["a","b"]"#) == "json presence")
    }

    @Test("an object of a few values is one item with these as fields, unless it is an error")
    func scalars() throws {
        let headers = ResponseHeaders([("Content-Type", "application/json")])
        func line(_ body: String) -> String? { Self.read(Array(body.utf8), headers: headers)?.line }
        #expect(
            line(#"{"temperature":21.5,"humidity":40,"at":1795000000}"#)
                == #"json fields={temperature:temperature humidity:humidity} fields(["temperature", "humidity"])"#)
        for version in ["1.2.3", "1.2.30"] {
            #expect(line(#"{"version":"\#(version)"}"#) == #"json fields={version:version} fields(["version"])"#)
        }
        #expect(line(#"{"success":true,"load":0.5}"#) == #"json fields={load:load} fields(["load"])"#)
        #expect(line(#"{"error":"no such city","code":7}"#)?.hasPrefix("http") == true)
        #expect(line(#"{"message":"Not Found"}"#)?.hasPrefix("http") == true)
        let other = Recogniser.proposals(url: "https://h/", headers: headers, body: Array(#"{"a":{"b":{}}}"#.utf8))
        #expect(other.map(\.reason) == ["JSON without items that are recognised"])
    }

    @Test("JSON Feed, RSS and XML with namespaces are recognised by content")
    func forms() throws {
        let feed =
            #"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[{"id":"1","content_text":"x"}]}"#
        #expect(Self.read(Array(feed.utf8))?.line == "feed arrivals")
        let rss =
            "<rss version=\"2.0\"><channel><title>t</title><item><guid>1</guid><title>a</title></item></channel></rss>"
        #expect(Self.read(Array(rss.utf8))?.line == "feed arrivals")
        let xml = """
            <list xmlns="urn:jobs"><job id="1"><title>a</title><status>up</status></job>
            <job id="2"><title>b</title><status>down</status></job></list>
            """
        let proposals = Recogniser.proposals(url: "https://h/", headers: .init(), body: Array(xml.utf8))
        #expect(
            proposals.first.map(Self.line)
                == "xml items=/x:list/x:job key=@id title=x:title state=x:status namespaces={x:urn:jobs} state")
    }

    @Test("a page names its feeds, from its own base, each once")
    func alternates() {
        let page = """
            <!doctype html><base href="/blog/"><title>My
            page</title><link rel="alternate" type="application/rss+xml" href="feed.xml">
            <LINK HREF="https://other.example.com/atom" REL="Alternate nofollow" TYPE="application/atom+xml">
            <link rel=alternate type=application/rss+xml href=feed.xml><link rel=stylesheet type=text/css href=x>
            <link rel=alternate hreflang=de href=/de/><link rel=alternate type=application/rss+xml href="javascript:x">
            """
        let proposal = Recogniser.proposals(
            url: "https://www.example.com/a/b", headers: ResponseHeaders([("Content-Type", "text/html")]),
            body: Array(page.utf8)
        ).first
        #expect(proposal?.kind == "html" && proposal?.reason == "a page of HTML, 'My page'")
        #expect(proposal?.alternates == ["https://www.example.com/blog/feed.xml", "https://other.example.com/atom"])
    }

    @Test(
        "the last proposal is always to watch the response itself",
        arguments: ["", "hello", "{", "<", "<a>", "\u{0}", "[]]"])
    func fallback(body: String) {
        let proposals = Recogniser.proposals(url: "https://h/", headers: .init(), body: Array(body.utf8))
        #expect(proposals.last?.kind == "http")
    }
}
