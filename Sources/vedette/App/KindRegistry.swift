// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDesktop
import VedetteSinks
import VedetteSources

/// The source and sink kinds of this program.
enum KindRegistry {
    static let sourceKinds = SourceKinds.all
    static let sinkKinds = SinkKinds.all + [DesktopKind.entry]

    /// Returns what a state of a source of this kind means; nil when nobody can tell.
    static func meaning(ofState state: String, kind: String) -> StateMeaning? {
        sourceKinds.first { $0.name == kind }.map { $0.meaning(of: state) } ?? StateMeaning(of: state)
    }
}
