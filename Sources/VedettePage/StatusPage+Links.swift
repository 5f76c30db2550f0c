// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The links of messages. Their addresses need no token of the page: each carries its own. GET shows a form and changes
/// nothing, since previews and scanners open every link; the form has a second token, and works once.
extension StatusPage {
    var linkRoutes: [Route] {
        guard let links else { return [] }
        let pattern = "/\(ActionLink.path)/{token}"
        return [
            Route(.get, pattern, isOpen: true) { await show($0, links) },
            Route(.post, pattern, isOpen: true) { await carryOut($0, links) },
        ]
    }

    private func show(_ request: PageRequest, _ links: any ActionLinkStore) async -> PageResponse {
        guard let token = await verified(request, links) else { return Self.invalid }
        guard let form = await links.sign(token.form, day: token.link.day, makesKey: false) else { return Self.invalid }
        let link = token.link
        return .html(
            Layout.message(
                link.action.label,
                """
                <p class="big">\(link.subject.key ?? link.subject.source)</p><p>The rule <b>\(link.rule)</b>, the source \
                <b>\(link.subject.source)</b>.</p><form method="post"><input type="hidden" name="form" value="\(
                    ActionLink.Token.text(form))"><button>\(link.action.label)</button></form>
                """))
    }

    private func carryOut(_ request: PageRequest, _ links: any ActionLinkStore) async -> PageResponse {
        guard let token = await verified(request, links),
            let form = await links.sign(token.form, day: token.link.day, makesKey: false),
            RequestGuard.isEqual(request.form["form"] ?? "", ActionLink.Token.text(form))
        else { return Self.invalid }
        do throws(JournalError) {
            // An ended match does not use the link up: nothing was done.
            guard try await isTrue(token.link) else {
                return Self.answer("It is over already. Nothing was changed.", 410)
            }
            switch await links.use(token) {
            case .again: return Self.answer("This link was used already. Nothing was changed.", 410)
            case .failed: return Self.answer("The use of the link could not be stored. Nothing was changed.", 503)
            case .first: break
            }
        } catch {
            return Self.unwritten
        }
        do throws(JournalError) {
            try await carryOut(token.link)
        } catch {
            await links.release(token)
            return Self.unwritten
        }
        await facts.forget()
        let isWatched = await sources.journal.watcher() != nil
        let notice: PageNotice = token.link.action == .snooze ? .silenced : .acknowledged
        return Self.answer(notice.sentence(isWatched: isWatched), 200)
    }

    /// Returns the token of a request that is signed and has not ended.
    private func verified(_ request: PageRequest, _ links: any ActionLinkStore) async -> ActionLink.Token? {
        guard let token = request.parameters["token"].flatMap({ ActionLink.Token($0) }),
            token.link.isValid(at: sources.clock.now().wall),
            let signature = await links.sign(token.signed, day: token.link.day, makesKey: false),
            RequestGuard.isEqual(token.signature, ActionLink.Token.text(signature))
        else { return nil }
        return token
    }

    /// Whether there is something to acknowledge. A snooze is good for what comes, too.
    private func isTrue(_ link: ActionLink) async throws(JournalError) -> Bool {
        guard link.action == .acknowledge else { return true }
        return try await sources.journal.reader().ruleMemories().contains { memory in
            memory.key.rule == link.rule && memory.firingMatch?.id.description == link.match
        }
    }

    private func carryOut(_ link: ActionLink) async throws(JournalError) {
        let (journal, now) = (sources.journal, sources.clock.now().wall)
        switch link.action {
        case .acknowledge:
            let said = Acknowledgement(match: link.match, user: "", host: "a link", time: now)
            try await journal.acknowledge(rule: link.rule, link.subject, said, at: now)
        case .snooze:
            _ = try await journal.add(
                Silence(
                    rule: link.rule, source: link.subject.source, item: link.subject.key,
                    until: now.advanced(by: Silence.usualLength), created: now))
        }
    }

    /// One answer for what was never valid and for what is over: who has no link learns nothing.
    private static var invalid: PageResponse { answer("This link is not valid, or not any more.", 410) }

    private static var unwritten: PageResponse {
        answer("Nothing was changed: the journal could not be read or written. Try again.", 503)
    }

    private static func answer(_ sentence: String, _ status: Int) -> PageResponse {
        .html(Layout.message("Vedette", "<p role=\"status\">\(sentence)</p>"), status: status)
    }
}
