// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// `rate: {count, per}`: so many in a time, evenly spread.
struct RateReader {
    let findings: Findings

    /// Returns the time from one to the next.
    func interval(_ node: YAMLNode) -> Duration? {
        guard let map = MapReader(node, "'rate'", keys: ConfigurationKeys.rate, findings) else { return nil }
        let scalars = ScalarReader(findings: findings)
        let count = map["count"].flatMap { scalars.integer($0, "'count'", in: 1...1_000_000) }
        let time = map["per"].flatMap { scalars.duration($0, "'per'", atLeast: .milliseconds(1)) }
        guard let count, let time else { return nil }
        return time / count
    }
}
