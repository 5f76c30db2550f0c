// SPDX-License-Identifier: Apache-2.0

/// How long a server's cookies live.
public enum CookiePolicy: String, Sendable, Hashable, CaseIterable {
    /// They are not kept.
    case none
    /// Until the watcher ends.
    case memory
    /// Over restarts, in the journal. A session cookie is a credential, so this is not the default.
    case journal
}
