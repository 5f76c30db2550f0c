// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteSources

/// Probes an address: fetches it twice, recognises what is there, and tries the proposal on both responses.
struct Prober {
    /// What an address has, and how to watch it.
    struct Finding {
        var found: WorkingProposal
        var answer: ProbeTarget.Answer
        /// The address that was read: the one that was named, or that of its feed.
        var target: ProbeTarget
        var text: ProposalText

        /// `https://h.example/news: 2913 bytes of application/atom+xml: a feed`
        var summary: String {
            let type = answer.response.headers.mediaType.map { " of \($0)" } ?? ""
            let amount =
                answer.stream.map { counted($0.records.count, "record") } ?? counted(answer.page.bytes.count, "byte")
            return "\(target.shown): \(amount)\(type): \(found.proposal.reason)"
        }

        /// The address of a response to which redirects led.
        var redirection: String? {
            target.redirected(to: answer.response).map { "the answer came from another address, \($0)" }
        }
    }

    /// The time between the two responses.
    private static let pause = Duration.seconds(1)

    let target: ProbeTarget
    /// The kind that a person names; nil for the one that is recognised.
    var kind: String?
    var userAgent: String?
    var ask = ProbeRequest()
    /// Reads the configuration that the proposal is to be added to, without secrets.
    let loader: ConfigurationLoader

    func probe(_ fetcher: some Fetcher) async throws -> Finding {
        let first = try await target.fetch(fetcher)
        if let stream = first.stream { return try await propose(stream, first) }
        // A page's own feed has the same content in a form for programs.
        if kind == nil {
            let page = first.page
            let proposals = Recogniser.proposals(url: page.url, headers: page.headers, body: page.bytes)
            for address in proposals.flatMap(\.alternates).prefix(3) {
                if let feed = await feed(address, fetcher) { return feed }
            }
        }
        let later = await self.later(fetcher)
        let check = ProposalCheck(loader: loader, pages: [first.page] + [later?.page].compactMap { $0 })
        do throws(ReadError) {
            let seen = target.isOnTheWeb ? first.response : nil
            let found = try await WorkingProposal.from(
                first.page, seen, later: later?.page.bytes, ask: ask.options, kind: kind
            ) { found in await check.fault(of: text(found, first, target)) }
            return finding(found, first, target)
        } catch {
            throw Exit(.data, "\(target.shown): \(error.failure.rawValue): \(error.detail)")
        }
    }

    private func propose(
        _ stream: (records: [StreamRecord], settings: StreamSettings), _ first: ProbeTarget.Answer
    ) async throws -> Finding {
        let check = ProposalCheck(loader: loader, pages: [first.page], records: stream.records)
        do throws(ReadError) {
            let found = try await WorkingProposal.from(
                stream.records, stream.settings, of: first.page, ask: ask.options, kind: kind
            ) { found in await check.fault(of: text(found, first, target)) }
            return finding(found, first, target)
        } catch {
            throw Exit(.data, "\(target.shown): \(error.failure.rawValue): \(error.detail)")
        }
    }

    /// Fetches the address again: what changes within a second is no key. Nil for a file, and where the second request fails.
    private func later(_ fetcher: some Fetcher) async -> ProbeTarget.Answer? {
        guard target.isOnTheWeb else { return nil }
        let clock = SystemClock()
        do throws(CancellationError) {
            try await clock.sleep(until: clock.now().boot.advanced(by: Prober.pause))
        } catch {
            return nil
        }
        return try? await target.fetch(fetcher)
    }

    private func feed(_ address: String, _ fetcher: some Fetcher) async -> Finding? {
        guard let next = target.moved(to: address), let answer = try? await next.fetch(fetcher),
            let found = try? await WorkingProposal.from(answer.page, answer.response, kind: nil),
            found.proposal.kind == "feed"
        else { return nil }
        var feed = finding(found, answer, next)
        feed.text.remarks.append("The feed of \(target.shown)")
        return feed
    }

    private func finding(_ found: WorkingProposal, _ answer: ProbeTarget.Answer, _ target: ProbeTarget) -> Finding {
        Finding(found: found, answer: answer, target: target, text: text(found, answer, target))
    }

    private func text(_ found: WorkingProposal, _ answer: ProbeTarget.Answer, _ target: ProbeTarget) -> ProposalText {
        let taken = loader.names()
        var names = taken.sources
        var name = ProposedName.of(target.url, kind: found.proposal.kind, besides: names)
        // A rule of that name may be there although the source is not.
        while !taken.rules.isDisjoint(with: ProposalText.rules(of: name)) {
            names.insert(name)
            name = ProposedName.of(target.url, kind: found.proposal.kind, besides: names)
        }
        return ProposalText(
            found: found, place: target.place(movedTo: answer.response.movedTo), name: name, userAgent: userAgent,
            headers: ask.headers, existingSink: ProposalText.sink(among: taken.sinks))
    }
}
