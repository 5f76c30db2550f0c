// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension PollStages {
    /// Compares what was read with the snapshot.
    func diff(_ read: ReadSource) async -> PollResult {
        switch read {
        case .ended(let result): return result
        case .items(let items):
            var difference = await difference(items)
            // A window with a gap is announced and taken: failing it would fail every later poll, each with a wider gap.
            if let gap = items.gap { difference.events.append(DraftEvent(.suspect, error: gap)) }
            var result = PollResult(.read(difference), freshFor: items.freshFor, retryAfter: items.retryAfter)
            (result.warnings, result.links, result.silence) = (items.warnings, items.links, items.silence)
            return result
        }
    }

    /// Runs beside the network thread: a list may have a hundred thousand items.
    @concurrent
    private func difference(_ items: ReadItems) async -> Difference {
        Differ(source: source, now: clock.now().wall, thresholds: thresholds)
            .compare(snapshot, stored: items.stored, with: items.observation)
    }
}
