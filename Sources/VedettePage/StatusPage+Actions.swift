// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What the buttons do. They change the same rows of the journal as the commands; the watcher takes them up.
extension StatusPage {
    func act(_ request: PageRequest) async -> PageResponse {
        let form = request.form
        let notice: PageNotice
        do throws(JournalError) {
            notice =
                if let action = PageAction(rawValue: request.parameters["action"] ?? "") {
                    try await carryOut(action, form)
                } else {
                    .refused
                }
        } catch {
            notice = .failed
        }
        await facts.forget()
        return .redirect(to: PageReturn.location(form["back"], notice))
    }

    private func carryOut(_ action: PageAction, _ form: FormValues) async throws(JournalError) -> PageNotice {
        let (journal, now) = (sources.journal, sources.clock.now().wall)
        switch action {
        case .snooze, .mute:
            guard let silence = await silence(action, form, now) else { return .refused }
            _ = try await journal.add(silence)
            return .silenced
        case .unsilence:
            guard let id = form["id"].flatMap({ Int64($0) }) else { return .refused }
            return try await journal.endSilences([id], at: now) > 0 ? .unsilenced : .gone
        case .acknowledge:
            guard let rule = form["rule"], let match = form["match"] else { return .refused }
            let firing = try await journal.reader().ruleMemories().lazy.filter { $0.key.rule == rule }
                .compactMap(\.firingMatch).first { $0.id.description == match }
            guard let firing else { return .gone }
            let acknowledgement = Acknowledgement(
                match: match, user: form["by"] ?? "", host: "the page", note: form["note"], time: now)
            try await journal.acknowledge(
                rule: rule, Subject(firing), form["undo"] == nil ? acknowledgement : nil, at: now)
            return .acknowledged
        case .accept:
            guard let source = await source(form) else { return .refused }
            try await journal.accept(source: source, at: now)
            return .accepted
        case .poll:
            guard let source = await source(form) else { return .refused }
            try await journal.poll(source: source, at: now)
            return .polled
        case .retry:
            if let id = form["id"].flatMap({ Int64($0) }) {
                return try await journal.retry(.ids([id]), at: now) > 0 ? .retried : .gone
            }
            guard let sink = form["sink"], !sink.isEmpty else { return .refused }
            _ = try await journal.retry(.all(DeliveryFilter(.unsent, sink: sink)), at: now)
            return .retriedAll
        case .drop:
            guard let id = form["id"].flatMap({ Int64($0) }) else { return .refused }
            return try await journal.drop(.ids([id]), at: now) > 0 ? .dropped : .gone
        }
    }

    /// Returns the configured source of a form.
    private func source(_ form: FormValues) async -> String? {
        let names = await sources.configuration().sourceNames
        return form["source"].flatMap { names.contains($0) ? $0 : nil }
    }

    /// - Returns: nil when the form names nothing, or no duration.
    private func silence(_ action: PageAction, _ form: FormValues, _ now: Timestamp) async -> Silence? {
        let names = ["rule", "source", "item", "sink"].map { name in form[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard names.contains(where: { $0 != nil }) else { return nil }
        var silence = Silence(rule: names[0], source: names[1], item: names[2], sink: names[3], created: now)
        guard action == .snooze else { return silence }
        guard let length = form["for"].flatMap({ Duration(configured: $0) }), length > .zero else { return nil }
        silence.until = now.advanced(by: length)
        return silence
    }
}

/// Where a button leads back to: the page that it stands on.
enum PageReturn {
    /// The length of a path beyond which a button leads to the overview: encoding makes one that a form carries up to three times
    /// as long, and browsers and proxies take no Location of any length.
    private static let longest = 8000

    /// The path and query of a request, without the notice of the last button.
    static func path(of request: PageRequest) -> String {
        let query = request.query.pairs.filter { $0.name != "notice" }
            .map { (name: WebURL.encoded($0.name), value: Optional($0.value)) }
        return PagePath(segments: request.path, query: query).text
    }

    /// Returns the path and query of an address that a form carries. Anything but a path of this page that can be shown leads to
    /// the overview.
    static func path(_ back: String?) -> String {
        guard let back, back.utf8.count <= longest, !back.hasPrefix("//"), let request = PageRequest(.get, back),
            request.path != ["login"]
        else { return "/" }
        let path = path(of: request)
        return path.utf8.count <= longest ? path : "/"
    }

    /// Returns the address with a notice.
    static func location(_ back: String?, _ notice: PageNotice) -> String { adding(notice.rawValue, to: path(back)) }

    /// Returns what a browser opens that followed a link of another site and so did not send its cookie (`SameSite=Strict`): the
    /// same address, as this page's own request, which has the cookie. Nil for any other request, and for that one.
    static func afterLink(_ request: PageRequest) -> String? {
        guard request.method == .get, request.header("Sec-Fetch-Site") == "cross-site",
            Route.OtherSites.links.accepts(request), request.query["notice"] == nil
        else { return nil }
        // The script of the page takes an unknown notice out of the address again.
        return adding("opened", to: path(of: request))
    }

    private static func adding(_ notice: String, to path: String) -> String {
        path + (path.contains("?") ? "&" : "?") + "notice=\(notice)"
    }
}
