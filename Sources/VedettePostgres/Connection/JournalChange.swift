// SPDX-License-Identifier: Apache-2.0

/// What happened to a journal, as those who listen to the channel read it.
enum JournalChange: String {
    /// A watcher committed something.
    case commit
    /// A command changed something and wrote control requests.
    case requests
    /// A watcher began, ended, took or released leases, or has another configuration.
    case watchers

    static let channel = "vedette"

    /// The payload behind the name of the schema.
    /// - Parameter writer: the watcher that did it; nil where no other one listens for it.
    func payload(from writer: Int64? = nil) -> String { " " + rawValue + (writer.map { " \($0)" } ?? "") }

    /// Reads a payload; nil for one of another schema or program.
    static func read(_ payload: String, schema: String) -> (change: JournalChange, writer: Int64?)? {
        guard payload.hasPrefix(schema + " ") else { return nil }
        let words = payload.dropFirst(schema.count + 1).split(separator: " ")
        guard let change = words.first.flatMap({ JournalChange(rawValue: String($0)) }) else { return nil }
        return (change, words.count > 1 ? Int64(words[1]) : nil)
    }
}
