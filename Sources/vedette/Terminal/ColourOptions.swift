// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc

enum ColourChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never
}

/// The option `--color`. By default only a terminal gets colours (no-color.org; bixense.com/clicolors).
struct ColourOptions: ParsableArguments {
    @Option(help: "Colour: auto, always or never.")
    var color = ColourChoice.auto

    /// Read once: Foundation makes a dictionary of it each time, and a list may ask for each row.
    private static let environment = ProcessInfo.processInfo.environment

    var palette: Palette { palette(of: STDOUT_FILENO) }

    /// The colours of what goes to standard error.
    var diagnosticPalette: Palette { palette(of: STDERR_FILENO) }

    private func palette(of descriptor: Int32) -> Palette {
        Palette(isOn: isColoured(ColourOptions.environment, isTerminal: isatty(descriptor) == 1))
    }

    /// Addresses are not colours, but who wants no escape sequence wants none of them either.
    var links: Hyperlinks {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        return color == .never ? .none : Hyperlinks(ColourOptions.environment, isTerminal: isTerminal)
    }

    func isColoured(_ environment: [String: String], isTerminal: Bool) -> Bool {
        switch color {
        case .always: return true
        case .never: return false
        case .auto:
            if environment["NO_COLOR"].map({ !$0.isEmpty }) == true { return false }
            if environment["CLICOLOR_FORCE"].map({ !$0.isEmpty }) == true { return true }
            return isTerminal && environment["TERM"] != "dumb"
        }
    }
}
