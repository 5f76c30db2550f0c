// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The frame of each page: head, navigation and the notice of the last button.
struct Layout: Sendable {
    enum Section: String, CaseIterable, Sendable {
        case overview, events, rules, silences, outbox, `try`

        var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
        var path: PagePath { self == .overview ? PagePath() : PagePath(rawValue) }
    }

    var title: String
    var section: Section?
    var notice: PageNotice?
    var isWatched = true
    /// Whether a browser without a script loads the page again by itself.
    var isReloaded = true
    var now: Timestamp

    func page(_ content: HTML) -> HTML {
        let links = Section.allCases.map { section -> HTML in
            let mark: HTML = section == self.section ? " aria-current=\"page\"" : ""
            return "<a href=\"\(section.path.text)\"\(mark)>\(section.title)</a>"
        }
        let banner: HTML? = notice.map { notice in
            let tone: HTML = notice.isBad ? " bad" : ""
            return "<p class=\"notice\(tone)\" role=\"status\">\(notice.sentence(isWatched: isWatched))</p>"
        }
        let reload: HTML? = isReloaded ? "<noscript><meta http-equiv=\"refresh\" content=\"30\"></noscript>" : nil
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(title) · Vedette</title>
            <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
            <link rel="stylesheet" href="/style.css?v=\(Assets.version)"><link rel="icon" href="/icon.svg">
            \(reload)<script src="/script.js?v=\(Assets.version)" defer></script>
            </head><body data-now="\(now.milliseconds)"><a class="skip" href="#main">Skip to the content</a>
            <header><a class="name" href="/">Vedette</a><nav aria-label="Pages of Vedette">\(links)</nav>\
            <span id="live" role="status"></span></header>
            <main id="main">\(banner)\(content)</main></body></html>

            """
    }

    /// Returns a page of its own for an error, or for what is asked before anything is shown.
    /// - Parameter next: the path that a browser opens at once; nil for none.
    static func message(_ title: String, _ content: HTML, next: String? = nil) -> HTML {
        let refresh: HTML? = next.map { "<meta http-equiv=\"refresh\" content=\"0;url=\($0)\">" }
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(title) · Vedette</title>
            <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
            <link rel="stylesheet" href="/style.css?v=\(Assets.version)">\(refresh)</head>
            <body><main class="message"><h1>\(title)</h1>\(content)</main></body></html>

            """
    }

    /// - Parameter back: the path that the token opens.
    static func login(back: String) -> HTML {
        """
        <form method="post" action="/login" class="login"><input type="hidden" name="back" value="\(back)">\
        <p>Type the token of <code>settings.listen.token</code>. It is kept in a \
        cookie of this browser.</p><label for="token">Token</label> <input id="token" name="token" type="password" \
        autocomplete="current-password" required autofocus> <button>Open</button></form>
        """
    }
}
