// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

extension Event.Kind {
    /// Whether the event is about an item.
    public var isAboutItem: Bool {
        switch self {
        case .appeared, .changed, .disappeared: true
        default: false
        }
    }
}
