// SPDX-License-Identifier: Apache-2.0

import CNotify

/// Why no bubble could be shown.
enum DesktopProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case noBus(String)
    case noDaemon(String)

    var description: String {
        switch self {
        case .noBus(let words):
            "no session bus (\(words)); run vedette inside the desktop session, or set DBUS_SESSION_BUS_ADDRESS"
        case .noDaemon(let words):
            "the notification daemon does not answer (\(words)); start one, for instance dunst or mako"
        }
    }
}

/// Calls a function that reports through a GError. A new variable per call: GLib does not allow one to be used again.
/// - Returns: what `call` returned, and the words of the error if there was one.
func callingGLib<Result>(
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result
) -> (result: Result, error: GLibError?) {
    var error: UnsafeMutablePointer<GError>?
    let result = call(&error)
    guard let error else { return (result, nil) }
    defer { g_error_free(error) }
    return (
        result,
        GLibError(words: String(cString: error.pointee.message), isMissingName: cn_is_name_has_no_owner(error) != 0)
    )
}

struct GLibError: Sendable {
    var words: String
    /// The bus knows nobody of that name.
    var isMissingName: Bool
}
