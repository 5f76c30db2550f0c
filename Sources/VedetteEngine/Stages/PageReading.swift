// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The pages read so far.
struct PageReading: Sendable {
    var paginator: Paginator
    var step = Paginator.Step.done
    var warnings: [String] = []
    /// `Page.absences` of every page so far; nil before the first.
    var absences: [String]?
    /// The first page's hint about a resource without items.
    var emptyHint: String?
    var freshFor: Duration?
    /// Whether each page of HTML has its end tag.
    var haveEndTags = true
    /// A response came from the internet: what it names must not lead into our own network.
    var isPublic = false
    var limits: PollLimits
    /// After this no further page is fetched.
    var deadline: BootTime
    /// Rows of the snapshot that were loaded.
    let stored: Int
    /// Bytes of all pages, decoded.
    var bytes = 0

    /// The first warnings, as `status` shows them; nil for none.
    var warning: String? {
        warnings.isEmpty ? nil : String(warnings.prefix(3).joined(separator: "; ").prefix(600))
    }

    mutating func take(_ page: Page) {
        warnings += page.warnings
        absences = absences?.filter(page.absences.contains) ?? page.absences
        emptyHint = emptyHint ?? page.emptyHint
        haveEndTags = haveEndTags && page.hasEndTag
        if paginator.pages == 0 { freshFor = [freshFor, page.freshFor].compactMap { $0 }.max() }
        step = paginator.pageRead(page)
    }

    /// Warns of what no item has, and that no item was found, unless the user expects that.
    mutating func end(_ empty: Source.Empty) {
        warnings += absences ?? []
        guard paginator.items.isEmpty, empty != .valid, let emptyHint else { return }
        warnings.append("\(emptyHint), or write 'empty: valid' where there is often none")
    }

    /// Each page may be within every limit of a document, and all of them together too much.
    mutating func limit(at now: BootTime) {
        guard case .fetch = step else { return }
        if let pages = limits.pages, paginator.pages >= pages {
            step = .done
        } else if bytes >= limits.bytes {
            step = .gap("after page \(paginator.pages) there are \(bytes) bytes and no more are read")
        } else if now >= deadline {
            step = .gap("page \(paginator.pages) came after \(limits.time) and no more are read")
        }
    }
}
