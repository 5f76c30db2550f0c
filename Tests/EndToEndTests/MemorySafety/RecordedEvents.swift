// SPDX-License-Identifier: Apache-2.0

/// The events of a journal, as `tail --json` prints them, by source.
struct RecordedEvents {
    private let events: [[String: Any]]

    init(_ tail: Program.Result) { events = tail.json }

    private func of(_ source: String) -> [[String: Any]] { events.filter { $0.text("source") == "/sources/\(source)" } }

    /// The values that a field of the items had, one for each event about an item.
    func values(of field: String, in source: String) -> [String] {
        of(source).filter { $0.text("type")?.hasPrefix("io.vedette.item.") == true }.map {
            $0.text("data", "item", field) ?? "-"
        }
    }

    /// The keys of the items that events are about.
    func keys(in source: String) -> Set<String> {
        Set(
            of(source).filter { $0.text("type")?.hasPrefix("io.vedette.item.") == true }.compactMap {
                $0.text("subject")
            })
    }

    /// What became of the source: `failing:CLASS` and `recovered`.
    func health(of source: String) -> [String] {
        of(source).compactMap { event in
            switch event.text("type") {
            case "io.vedette.source.failing": "failing:\(event.text("data", "error", "class") ?? "-")"
            case "io.vedette.source.recovered": "recovered"
            default: nil
            }
        }
    }
}
