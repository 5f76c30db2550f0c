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
                let options = proposal.options(for: entry), let kind = try? entry.make(options)
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
                    == "json items=evriThing.graph.entities.entity null_is_empty=true key=@href title=name.$ presence")
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
            "json items=results key=id title=name state=status link=url time=modified fields={type:type} mode=window next=next arrivals"
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
            "json key=id state=status link=web_url time=updated_at fields={branch:ref} state"
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
        #expect(line(#"[{"type":"a","id":1},{"type":"b","id":1}]"#) == "json key=[type id] presence")
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
