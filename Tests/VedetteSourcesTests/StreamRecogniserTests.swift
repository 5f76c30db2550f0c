// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteSources

struct StreamRecogniserTests {
    private func proposals(_ records: (event: String, data: String)..., format: StreamSettings.Format? = nil)
        -> [Proposal]
    {
        var settings = StreamSettings()
        settings.format = format
        return StreamRecogniser(records.map { StreamRecord(Array($0.data.utf8), event: $0.event) }, settings).proposals
    }

    private func line(_ proposals: [Proposal]) -> String {
        proposals.map(RecognitionTests.line).joined(separator: "; ")
    }

    @Test("records about the same item have its id as key, and the rule is about its state")
    func states() {
        let found = proposals(
            ("message", #"{"id": "job", "state": "queued"}"#), ("message", #"{"id": "job", "state": "running"}"#))
        #expect(line(found) == "json key=id state=state state")
        #expect(found.first?.stream == StreamSettings())
    }

    @Test("messages, each with an id of its own, are told as they come")
    func messages() {
        let found = proposals(
            ("message", #"{"id": "a", "time": 1795226400, "event": "open", "topic": "t"}"#),
            ("message", #"{"id": "b", "time": 1795226401, "event": "message", "topic": "t", "message": "Hi"}"#),
            format: .lines)
        #expect(line(found) == "json key=id title=[message id] time=time arrivals")
        #expect(found.first?.stream?.format == .lines)
    }

    @Test("events whose data is no object are left out by their name")
    func names() {
        let found = proposals(("update", #"{"id": "1", "url": "https://a.example/1"}"#), ("delete", "1"))
        #expect(found.first?.stream?.only == [RecordCondition("$event", ["update"])])
        #expect(found.first?.options.first == Proposal.Option(name: "key", value: .text("id")))
    }

    @Test("objects without a key are one item, texts are one text, and silence is no reason to give up")
    func others() {
        #expect(
            line(proposals(("message", #"{"load": 1, "host": "a"}"#), ("message", #"{"load": 2, "host": "a"}"#)))
                == #"json fields={host:host} fields(["host"])"#)
        #expect(line(proposals(("message", "tick"), ("message", "tock"))) == "text text")
        let silent = proposals(("message", ""))
        #expect(line(silent) == "json key=id arrivals")
        #expect(silent.first?.remarks.first?.contains("probe again") == true)
    }
}
