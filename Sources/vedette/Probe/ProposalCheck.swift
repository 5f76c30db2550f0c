// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteSources
import VedetteText

/// Runs a proposal before it is printed: through `check`, and over the bodies that were fetched as successive polls.
struct ProposalCheck {
    let loader: ConfigurationLoader
    /// The first body, and the one that was fetched a second later; the same one where there is no other.
    let pages: [PageBody]
    /// The records of a stream; nil for a complete response.
    var records: [StreamRecord]?

    /// Returns why the proposal does not work as it is; nil when it does.
    func fault(of text: ProposalText) async -> String? {
        let loaded = loader.load(adding: text.lines.joined(separator: "\n") + "\n")
        if let problem = loaded.first(where: { $0.severity == .error }) { return problem.message }
        let source = Source(
            name: text.name, kindName: text.found.proposal.kind, kind: text.found.kind, server: Server(name: ""),
            url: pages[0].url, interval: PollInterval(every: PollInterval.usual), empty: .valid,
            stream: text.found.proposal.stream)
        // A kind that observes the response has no page to read.
        guard !(text.found.kind is any ObservingKind) else { return nil }
        let replay = Replay(
            source, civil: ZoneTime(), random: SystemRandomGenerator(), log: StderrLog(level: .error),
            transformer: JQTransformer())
        if let records {
            let connection = await replay.connect(records, at: pages[0].receivedAt)
            return connection.failure.map { "a record of it cannot be read: \($0.detail)" }
        }
        var events = 0
        for (number, page) in (pages + pages.suffix(1)).enumerated() {
            var page = page
            page.number = 1
            let poll = await replay.poll([page], at: page.receivedAt.advanced(by: .seconds(60 * number)))
            if let failure = poll.failure { return "poll \(number + 1) of it fails: \(failure.detail)" }
            events += poll.events.count { $0.kind == .appeared || $0.kind == .disappeared }
        }
        let isUnstable = events > max(2, text.found.items.count)
        return isUnstable ? "its items come and go from one poll to the next: the key is not stable" : nil
    }
}
