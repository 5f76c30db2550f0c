// SPDX-License-Identifier: Apache-2.0

/// The outcome of a button, as the next page shows it.
enum PageNotice: String, CaseIterable, Sendable {
    case silenced, unsilenced, acknowledged, accepted, retried, dropped, polled
    /// Every message of a sink.
    case retriedAll
    /// The silence or message is gone already.
    case gone
    /// The request was not complete.
    case refused
    /// The journal could not be written.
    case failed

    /// - Parameter isWatched: whether a watcher runs.
    func sentence(isWatched: Bool) -> String {
        let rest = isWatched ? "" : " No watcher runs; it takes effect when one does."
        return switch self {
        case .silenced: "Silenced. The list of silences ends it." + rest
        case .unsilenced: "The silence is ended." + rest
        case .acknowledged: "Noted. An acknowledged match gets no reminders and no escalations until it changes." + rest
        case .accepted: "Accepted: what the source answers now counts." + rest
        case .retried: "The message is attempted again." + rest
        case .retriedAll: "Every message of the sink is attempted again." + rest
        case .dropped: "The message is dropped. The outbox keeps it as dead." + rest
        case .polled: "The source is polled now." + rest
        case .gone: "Nothing was changed: it was over already."
        case .refused: "Nothing was changed: the request was incomplete."
        case .failed: "Nothing was changed: the journal could not be written."
        }
    }

    var isBad: Bool { self == .refused || self == .failed }
}
