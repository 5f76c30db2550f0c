// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Hyperlinks in a terminal (OSC 8). A terminal that does not know them may print the address amid the text, so they are
/// only for those that are known to have them.
struct Hyperlinks: Sendable {
    static let none = Hyperlinks(isOn: false)

    let isOn: Bool

    init(isOn: Bool) { self.isOn = isOn }

    /// - Parameter isTerminal: whether the output goes to a terminal.
    init(_ environment: [String: String], isTerminal: Bool) {
        // The variables of supports-hyperlinks, which ls, gcc and cargo follow too.
        if let forced = environment["FORCE_HYPERLINK"], !forced.isEmpty {
            isOn = forced != "0"
            return
        }
        let term = environment["TERM"] ?? ""
        let isKnown =
            Hyperlinks.variables.contains { environment[$0].map { !$0.isEmpty } == true }
            || (environment["VTE_VERSION"].flatMap { Int($0) } ?? 0) >= 5000
            || Hyperlinks.programs.contains(environment["TERM_PROGRAM"] ?? "")
            || Hyperlinks.terminals.contains { term.hasPrefix($0) }
        // GNU screen and older tmux swallow or print the sequence.
        isOn = isTerminal && isKnown && environment["TMUX"] == nil && !term.hasPrefix("screen")
    }

    private static let variables = ["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "WEZTERM_PANE"]
    private static let programs: Set<String> = ["iTerm.app", "WezTerm", "vscode", "ghostty", "rio"]
    private static let terminals = ["xterm-kitty", "xterm-ghostty", "foot", "alacritty", "contour"]

    /// Returns the text as a link. An address that is not plain `http` or `https` makes none.
    func link(_ text: StyledText, to url: String?) -> StyledText {
        guard isOn, let url, text.width > 0, Hyperlinks.isSafe(url) else { return text }
        return StyledText(
            painted: "\u{1B}]8;;\(url)\u{1B}\\\(text.text)\u{1B}]8;;\u{1B}\\", width: text.width)
    }

    /// The sequence ends at the first control character, so an address must not hold one.
    private static func isSafe(_ url: String) -> Bool {
        (url.hasPrefix("https://") || url.hasPrefix("http://")) && url.utf8.count <= 2000
            && url.utf8.allSatisfy { (33..<127).contains($0) }
    }
}
