// SPDX-License-Identifier: Apache-2.0

/// Paths in files start from the file's directory; `~/` is the home directory.
enum FilePath {
    static func resolve(_ path: String, in directory: String, _ environment: [String: String]) -> String {
        if path.hasPrefix("~/"), let home = environment["HOME"] { return home + path.dropFirst() }
        return path.hasPrefix("/") ? path : directory + "/" + path
    }
}
