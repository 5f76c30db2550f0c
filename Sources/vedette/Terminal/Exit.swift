// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteCore

/// The end of a command that failed: one sentence for stderr and a code of sysexits.h.
struct Exit: Error, CustomStringConvertible {
    /// The units of `contrib/systemd` restart the watcher after the passing ones.
    enum Code: Int32, CaseIterable {
        case usage = 64
        case data = 65
        case unavailable = 69
        case software = 70
        /// The journal stays locked by a program that is no watcher.
        case busy = 71
        case cannotCreate = 73
        case inputOutput = 74
        case temporary = 75
        case permission = 77
        case configuration = 78
    }

    /// Of a command that worked, with a result that is not the wanted one: `wait`, `status --check`.
    static let unwanted: Int32 = 1
    /// Of a command whose time is over, as timeout(1) has it.
    static let timedOut: Int32 = 124

    /// The code of a process that a signal ended, as shells have it.
    static func ended(by signal: Int32) -> Int32 { 128 + signal }

    var code: Code
    var description: String

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

    /// A name that nothing has, with the nearest one, else with those that there are.
    static func unknown(_ noun: String, _ name: String, among known: some Sequence<String>) -> Exit {
        let names = Set(known).sorted()
        let some = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? " and \(names.count - 12) more" : "")
        let list = names.isEmpty ? "; none is configured" : "; there are: \(some)"
        return Exit(.usage, "there is no \(noun) \(quoted(name))\(didYouMean(name, among: known) ?? list)")
    }

    /// Every error has a code: what is unknown here is an error of this program.
    init(_ error: any Error) {
        switch error {
        case let error as Exit: self = error
        case let error as JournalError: self.init(error)
        case let error as OptionProblem:
            self.init(.configuration, "the option '\(error.path.joined(separator: "."))' \(error.detail)")
        case let error as ReadError: self.init(.data, "\(error.failure.rawValue): \(error.detail)")
        case let error as FetchError: self.init(.unavailable, "\(error.failure.rawValue): \(error.detail)")
        case is CancellationError: self.init(.temporary, "the command was cancelled")
        case let error as CocoaError: self.init(.inputOutput, error.localizedDescription)
        default: self.init(.software, "internal error: \(error)")
        }
    }

    /// Ends the process. Everything that it printed is written, since `Output` keeps no buffer.
    ///
    /// Not by `exit`, which runs the exit handlers of the libraries beside the threads that there still are: OpenSSL's
    /// frees what the end of such a thread uses (https://github.com/openssl/openssl/issues/6214).
    static func endProcess(_ code: Int32 = 0) -> Never { Glibc._exit(code) }

    init(_ error: JournalError) {
        let code: Code =
            switch error.reason {
            case .locked: .temporary
            case .busy: .busy
            case .full, .inputOutput: .inputOutput
            case .readOnly: .cannotCreate
            case .denied: .permission
            case .corrupt, .newer: .data
            case .missing, .older, .unavailable: .unavailable
            case .refused, .conflict: .software
            }
        self.init(code, error.detail)
    }
}
