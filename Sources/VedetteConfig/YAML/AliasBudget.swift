// SPDX-License-Identifier: Apache-2.0

/// Bounds the number of nodes that one load reads. Aliases count as often as they are used, since nested aliases are small
/// only on disk.
final class AliasBudget {
    private static let maximum = 2_000_000

    private var left = AliasBudget.maximum
    private var isReported = false

    func spend(_ count: Int, at place: Place, _ findings: Findings) -> Bool {
        left -= count
        if left < 0, !isReported {
            isReported = true
            findings.end(
                place,
                "the files hold more than \(AliasBudget.maximum) values once aliases (*name) and 'each' are replaced; remove some"
            )
        }
        return left >= 0
    }
}
