// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Starts programs whose wall clock is ahead of this machine's, by a preloaded library.
struct ShiftedClock {
    private let library: String
    private let folder: URL

    /// Compiles the library into a folder.
    init(_ folder: URL) async throws {
        self.folder = folder
        let endurance = Program.root.appending(path: "Tests/endurance").path
        let compile = """
            import sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])
            import faulty; print(faulty.compile_library(sys.argv[2]))
            """
        let child = try Child("/usr/bin/env", ["python3", "-c", compile, endurance, folder.path])
        guard await child.end(within: 60) == 0 else { throw Trouble(child.text(of: .err)) }
        library = child.lines(of: .out)[0]
    }

    /// The environment of a program that starts at this time, in UTC.
    func environment(at time: Date) throws -> [String: String] {
        // The layout is Tests/endurance/faulty.py's: the step of the clock, then deaths and calls that fail.
        var page = withUnsafeBytes(of: Int64(time.timeIntervalSinceNow * 1e9)) { Data($0) }
        page += Data(count: 136)
        let file = folder.appending(path: "clock-\(UUID().uuidString)")
        try page.write(to: file)
        return ["TZ": "UTC", "LD_PRELOAD": library, "VEDETTE_FAULTS": file.path]
    }
}
