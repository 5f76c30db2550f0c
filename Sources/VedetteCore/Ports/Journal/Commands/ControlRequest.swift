// SPDX-License-Identifier: Apache-2.0

/// A request of a command to the watcher. Each is idempotent: the watcher deletes it only when it is carried out, so a
/// crash in between carries it out again.
public enum ControlRequest: Sendable, Hashable {
    /// Believe the suspect observation of a source at a poll now.
    case accept(source: String)
    /// Poll a source now, unless its server wants no request yet (Retry-After).
    case poll(source: String)
    /// Note that somebody works on a match, or with nil that nobody does any more.
    case acknowledge(rule: String, subject: Subject, Acknowledgement?)
    /// Read the silences again.
    case reloadSilences
    /// Deliver to a sink again that is paused, including deliveries that were revived.
    case retry(sink: String)
    /// Read the pending deliveries of a sink again, since some were dropped.
    case reloadQueue(sink: String)
    /// Written by another version of this program.
    case unknown(verb: String)
}
