// SPDX-License-Identifier: Apache-2.0

/// Draws numbers as a small line, oldest first; the lowest line is zero.
enum Sparkline {
    static let width = 120
    static let height = 24

    /// - Parameter label: what a screen reader says.
    /// - Returns: an empty picture of fewer than two numbers.
    static func svg(_ values: [Double], label: String) -> HTML {
        guard values.count > 1, let highest = values.max() else { return "" }
        let step = Double(width) / Double(values.count - 1)
        // The height divided by the smallest numbers would be infinite; a share is at most 1.
        func share(_ value: Double) -> Double { highest > 0 ? max(0, value) / highest : 0 }
        let points = values.indices.map { i in
            "\(SVG.number(Double(i) * step)),\(SVG.number(Double(height - 1) - share(values[i]) * Double(height - 2)))"
        }
        return """
            <svg class="spark" viewBox="0 0 \(width) \(height)" role="img" aria-label="\(label)"><polyline points="\(
                points.joined(separator: " "))"/></svg>
            """
    }
}
