// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSinks

/// Lays out the lines of `tail`: time, number, mark, source, item and what happened. In a terminal each event is one line
/// of its width, and each day has a line; a pipe gets whole lines with the date in each.
struct EventLayout {
    private let palette: Palette
    private let links: Hyperlinks
    private let moment: @Sendable (Timestamp) -> LocalTime.Moment
    /// The day of the line before, or today.
    private var date: String
    /// The second of the line before: a poll has many events of one time.
    private var last: (second: Int64, moment: LocalTime.Moment)?
    private var numberWidth: Int
    private var sourceWidth = 0

    /// - Parameters:
    ///   - numbers: the largest number that is expected, for the width of its column.
    ///   - moment: the local clock.
    init(
        _ palette: Palette, links: Hyperlinks = .none, numbers: Int64 = 0, now: Timestamp,
        moment: @escaping @Sendable (Timestamp) -> LocalTime.Moment = LocalTime.moment
    ) {
        (self.palette, self.links, self.moment) = (palette, links, moment)
        date = moment(now).date
        numberWidth = String(numbers).utf8.count
    }

    /// Returns the event's line, after the line of its day where another day begins.
    /// - Parameter width: the columns of the terminal; nil for a pipe.
    mutating func lines(of event: Event, _ mark: DeliveryMark, width: Int?) -> [StyledText] {
        let moment = localTime(event.time)
        let number = String(event.seq)
        numberWidth = max(numberWidth, number.utf8.count)
        let time = width == nil ? "\(moment.date) \(moment.clock)" : moment.clock
        // A name may take a fifth of the line; the column grows with the names that are seen.
        let source = palette.paint(event.source, .name).truncated(to: width.map { max(8, $0 / 5) } ?? .max)
        sourceWidth = max(sourceWidth, source.width)
        let columns: [StyledText] = [
            palette.paint(time, .faint), .blanks(1 + numberWidth - number.utf8.count),
            StyledText(painted: number, width: number.utf8.count), .blanks(1),
            mark == .none ? .blanks(1) : palette.paint(mark.rawValue, mark.role), .blanks(1), source,
            .blanks(sourceWidth - source.width + 2),
        ]
        let filled = columns.reduce(0) { $0 + $1.width }
        // Without room for every column the line is cut; a cut must not fall into the address of a link.
        let isNarrow = width.map { $0 - filled < 8 } ?? false
        var line = StyledText.joined(
            columns + subject(of: event, within: width.map { max(8, $0 - filled) }, isNarrow ? .none : links))
        if isNarrow, let width { line = line.truncated(to: width) }
        guard let width, moment.date != date else { return [line] }
        date = moment.date
        return [palette.paint("\(moment.weekday) \(moment.date)", .faint).truncated(to: width), line]
    }

    private mutating func localTime(_ time: Timestamp) -> LocalTime.Moment {
        let second = time.milliseconds / 1000
        if let last, last.second == second { return last.moment }
        let moment = moment(time)
        last = (second, moment)
        return moment
    }

    /// Returns the item and what happened. Where both are too long, what happened may take three fifths.
    private func subject(of event: Event, within width: Int?, _ links: Hyperlinks) -> [StyledText] {
        let happening = palette.paint(EventLine.happening(of: event), kind: event.sourceKind)
        guard let item = event.item else { return [happening.truncated(to: width ?? .max)] }
        let title = StyledText(item.title ?? item.key, limit: 500)
        guard let width, title.width + 2 + happening.width > width else {
            return [links.link(title, to: item.url), .blanks(2), happening]
        }
        let share = max(width * 3 / 5, width - 2 - title.width)
        let end = happening.truncated(to: share)
        let start = title.truncated(to: width - 2 - end.width)
        return [links.link(start, to: item.url), .blanks(2), end]
    }
}
