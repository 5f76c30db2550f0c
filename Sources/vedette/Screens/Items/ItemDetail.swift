// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSinks

/// Lays out one item as `show` prints it: its state, every field whole, and its history with what was sent to whom.
struct ItemDetail {
    /// An event of the item with the deliveries that were made of it.
    struct Past {
        var event: Event
        var deliveries: [DeliveryStatus]
    }

    var item: Item
    /// When it got its state.
    var since: Timestamp?
    /// What the resources add that the item links to.
    var details: Fields = [:]
    /// When the source was read.
    var readAt: Timestamp
    /// Oldest first.
    var history: [Past] = []
    var kind: String

    func lines(_ palette: Palette, links: Hyperlinks = .none, now: Timestamp, width: Int?) -> [StyledText] {
        var lines = WrappedText.lines(StyledText(item.title ?? item.key).text, width: width).map {
            links.link(palette.paint($0.text, .strong), to: item.url)
        }
        lines += state(palette, now).map { [$0] } ?? []
        lines.append(StyledText(""))
        lines += fields(palette, links, width)
        lines += [StyledText(""), palette.paint("read \(readAt.relative(to: now))", .faint)]
        if !history.isEmpty { lines.append(StyledText("")) }
        return lines + timeline(palette, now, width)
    }

    /// `Ready for use since 08:59:22 (2 h 3 min)`
    private func state(_ palette: Palette, _ now: Timestamp) -> StyledText? {
        guard let state = item.state else { return nil }
        let words = palette.paint(state, Palette.role(ofState: state, kind: kind) ?? .strong)
        guard let since else { return words }
        let lasted = DurationText.long(seconds: max(0, now.seconds(since: since).rounded()))
        return words + StyledText(" since \(LocalTime.text(since, now: now)) (\(lasted))")
    }

    private func fields(_ palette: Palette, _ links: Hyperlinks, _ width: Int?) -> [StyledText] {
        var rows: [(name: String, value: String)] = [("key", item.key)]
        if let url = item.url { rows.append(("url", url)) }
        if let time = item.time { rows.append(("time", time.rfc3339)) }
        for field in Array(item.fields) + Array(item.measures) + Array(item.notes) + Array(details) {
            rows.append((field.name, field.value.description))
        }
        let names = rows.map { palette.paint($0.name, .faint) }
        let column = names.map(\.width).max().map { min($0, 24) + 2 } ?? 0
        return zip(names, rows).flatMap { name, row in
            // A name that is too long has a line of its own.
            let values = WrappedText.lines(row.value, width: width.map { max(20, $0 - column) }).map { value in
                row.name == "url" ? links.link(value, to: row.value) : value
            }
            let head = name.width > column - 2 ? [name] : []
            return head
                + values.enumerated().map { i, value in
                    (i == 0 && head.isEmpty ? name : StyledText("")).padded(to: column) + value
                }
        }
    }

    private func timeline(_ palette: Palette, _ now: Timestamp, _ width: Int?) -> [StyledText] {
        let times = history.map { palette.paint(LocalTime.text($0.event.time, now: now), .faint) }
        let numbers = history.map { String($0.event.seq) }
        let (time, number) = (times.map(\.width).max() ?? 0, numbers.map(\.count).max() ?? 0)
        return history.indices.flatMap { i -> [StyledText] in
            let past = history[i]
            let spaces = String(repeating: " ", count: 2 + number - numbers[i].count)
            let start = times[i].padded(to: time) + StyledText("\(spaces)\(numbers[i])  ")
            let happening = palette.paint(EventLine.happening(of: past.event), kind: past.event.sourceKind)
            let room = width.map { max(20, $0 - start.width) }
            let sent = DeliverySentence.sentences(past.deliveries, now: now).flatMap {
                WrappedText.lines($0, width: room)
            }
            return [start + happening.truncated(to: room ?? .max)]
                + sent.map { StyledText("").padded(to: start.width) + palette.paint($0.text, .faint) }
        }
    }
}
