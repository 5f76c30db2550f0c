// SPDX-License-Identifier: Apache-2.0

import CNotify

/// The reason why no notification could be shown.
enum DesktopProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case noBus(String)
    case noDaemon(String)

    var description: String {
        switch self {
        case .noBus(let cause):
            "no session bus (\(cause)); run vedette inside the desktop session, or set DBUS_SESSION_BUS_ADDRESS"
        case .noDaemon(let cause):
            "the notification daemon does not answer (\(cause)); start one, for instance dunst or mako"
        }
    }
}

/// Calls a function that reports through a GError. A new variable per call: GLib does not allow one to be used again.
/// - Returns: the result of `call`, and its error.
func callingGLib<Result>(
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result
) -> (result: Result, error: GLibError?) {
    var error: UnsafeMutablePointer<GError>?
    let result = call(&error)
    guard let error else { return (result, nil) }
    defer { g_error_free(error) }
    return (
        result,
        GLibError(message: String(cString: error.pointee.message), isMissingName: cn_is_name_has_no_owner(error) != 0)
    )
}

struct GLibError: Sendable {
    var message: String
    /// No connection has that name on the bus.
    var isMissingName: Bool
}
