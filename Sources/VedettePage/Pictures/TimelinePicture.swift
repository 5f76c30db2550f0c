// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Draws a timeline of states as a bar: a rectangle a state, coloured by what it means.
enum TimelinePicture {
    static let width = 600

    /// - Parameters:
    ///   - label: what a screen reader says.
    ///   - tone: the class of a state; nil for one of unknown meaning.
    ///   - time: the text of a time.
    static func svg(
        _ timeline: StateTimeline, label: String, tone: (String) -> PageText.Tone?, time: (Timestamp) -> String
    ) -> HTML {
        let length = Double(max(1, timeline.end.milliseconds - timeline.start.milliseconds))
        func place(_ time: Timestamp) -> Double {
            Double(width) * Double(time.milliseconds - timeline.start.milliseconds) / length
        }
        let bars = timeline.segments.map { segment -> HTML in
            let (from, to) = (place(segment.start), place(segment.end))
            let lasted = DurationText.long(seconds: segment.end.seconds(since: segment.start))
            let text = "\(segment.state ?? "gone"), \(time(segment.start)) to \(time(segment.end)) (\(lasted))"
            let name = segment.state.map { tone($0)?.rawValue ?? "other" } ?? "gone"
            // A state that lasted seconds of a day is still seen.
            let drawn = max(to - from, 1)
            return """
                <rect class="\(name)" x="\(SVG.number(from))" y="0" width="\(SVG.number(drawn))" height="14"><title>\(text)</title></rect>
                """
        }
        return """
            <svg class="timeline" viewBox="0 0 \(width) 14" preserveAspectRatio="none" role="img" aria-label="\(label)">\(bars)</svg>
            """
    }
}

/// Numbers of pictures.
enum SVG {
    /// Returns a coordinate with at most one decimal, so that a picture is the same on every machine; 0 for one that no
    /// picture has.
    static func number(_ value: Double) -> String {
        guard let tenths = Int(exactly: (value * 10).rounded()), tenths > .min else { return "0" }
        let sign = tenths < 0 ? "-" : ""
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(sign)\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
