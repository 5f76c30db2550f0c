// SPDX-License-Identifier: Apache-2.0

import CPQ
import Glibc
import VedetteCore

/// One connection to the server, always in pipeline mode: the statements of one call go out together and cost one round
/// trip (https://www.postgresql.org/docs/15/libpq-pipeline-mode.html).
///
/// `@unchecked`: one thread at a time uses it; a `ConnectionWorker` keeps it behind its lock, a `NotificationWatch` on its
/// one thread.
final class Connection: @unchecked Sendable {
    /// The time that the server has for one statement, and for the lock of a row.
    private static let statementTimeout = Duration.seconds(30)
    private static let lockTimeout = Duration.seconds(5)
    private static let usualAnswerTimeout = statementTimeout + lockTimeout
    /// The server ends a transaction whose client is gone without a word, so that its locks do not stay. No transaction of a
    /// watcher waits for anything else than the server; a copy, which waits for its other side, has no such limit.
    private static let idleTimeout = Duration.seconds(10)

    /// The time within which an answer must come; nil for no limit.
    private(set) var answerTimeout: Duration? = usualAnswerTimeout

    private let handle: OpaquePointer
    /// The names of prepared statements by their text.
    private var prepared: [String: String] = [:]
    private var lastName = 0
    /// Whether an answer was lost, so that what comes now belongs to another statement.
    private var isBroken = false

    /// Connects. Blocks for `connect_timeout` at most for each host.
    init(_ server: PostgresServer) throws(PostgresError) {
        // A keyword overrides those before it, and `dbname` stands for all that it holds.
        let keywords: [(String, String)] =
            [
                ("connect_timeout", "10"), ("tcp_user_timeout", "15000"), ("keepalives_idle", "10"),
                ("keepalives_interval", "5"), ("keepalives_count", "3"), ("target_session_attrs", "read-write"),
                ("fallback_application_name", "vedette"), ("dbname", server.connection.text),
                ("client_encoding", "UTF8"),
            ] + (server.password.map { [("password", $0.value)] } ?? [])
        let handle = Connection.withCStrings(keywords.map(\.0)) { names in
            Connection.withCStrings(keywords.map(\.1)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let handle else { throw PostgresError(.connect, "out of memory") }
        self.handle = handle
        // Else libpq writes what the server says beside an answer to standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1
        else { throw PostgresError(PQconnectionUsedPassword(handle) == 1 ? .password : .connect, message) }
        try begin()
    }

    deinit { PQfinish(handle) }

    var socket: Int32 { PQsocket(handle) }

    /// False when the server has closed the connection since the last call, for instance because it was restarted.
    var isAlive: Bool {
        if isBroken { return false }
        // Its last words come before its end, which is found by reading once more.
        for _ in 1...3 {
            var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return true }
            guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return false }
        }
        return true
    }

    private func begin() throws(PostgresError) {
        guard PQserverVersion(handle) >= 150_000 else {
            throw PostgresError(.connect, "it is PostgreSQL \(PQserverVersion(handle) / 10_000); 15 or later is needed")
        }
        guard PQparameterStatus(handle, "server_encoding").map({ String(cString: $0) }) == "UTF8" else {
            throw PostgresError(.connect, "the database's encoding is not UTF8; create it with 'createdb -E UTF8'")
        }
        func milliseconds(_ time: Duration) -> String { "\(time.wholeMilliseconds)ms" }
        // A commit that was returned survives a crash of the server, whatever the database's own setting (I1).
        let settings = """
            select set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
              set_config('idle_in_transaction_session_timeout', $3, false),
              set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on'
                else current_setting('synchronous_commit') end, false)
            """
        _ = try run([
            SQLCommand(
                settings,
                [
                    milliseconds(Self.statementTimeout), milliseconds(Self.lockTimeout),
                    milliseconds(Self.idleTimeout),
                ], isPrepared: false)
        ])
    }

    /// Runs a statement.
    @discardableResult
    func run(_ sql: String, _ values: [(any SQLValue)?] = []) throws(PostgresError) -> SQLRows {
        try run([SQLCommand(sql, values)])[0]
    }

    /// Runs statements in order, in one round trip. Outside `begin` and `commit` they are one transaction.
    /// - Returns: the rows of each.
    func run(_ commands: [SQLCommand]) throws(PostgresError) -> [SQLRows] {
        guard !commands.isEmpty else { return [] }
        do throws(PostgresError) {
            return try exchange(commands)
        } catch {
            isBroken = isBroken || error.cause == .lost
            throw error
        }
    }

    private func exchange(_ commands: [SQLCommand]) throws(PostgresError) -> [SQLRows] {
        let deadline = answerTimeout.map { ContinuousClock.now + $0 }
        let steps = try send(commands)
        var rows: [SQLRows] = []
        var failure: PostgresError?
        for step in steps {
            let (result, problem) = try answer(before: deadline)
            failure = failure ?? problem
            switch step {
            case .prepare(let sql, let name): if problem == nil, result != nil { prepared[sql] = name }
            case .run: if let result { rows.append(result) }
            }
        }
        try synchronize(before: deadline)
        if let failure { throw failure }
        guard rows.count == commands.count else { throw PostgresError(.lost, "an answer is missing") }
        return rows
    }

    /// Runs a block in one transaction: all of it, or nothing.
    func transaction<T>(_ block: () throws -> T) throws -> T {
        try run("begin")
        do {
            let value = try block()
            try run("commit")
            return value
        } catch {
            // The server has done so itself where the connection is gone.
            _ = try? run("rollback")
            throw error
        }
    }

    /// Runs a block in one transaction whose statements may last as long as they need, such as the index of a large table.
    /// A lock is waited for as usual, and keepalives find a server that is gone.
    func unlimitedTransaction<T>(_ block: () throws -> T) throws -> T {
        try transaction {
            try run("set local statement_timeout = 0")
            answerTimeout = nil
            defer { answerTimeout = Self.usualAnswerTimeout }
            return try block()
        }
    }

    /// Takes the notifications that have arrived.
    func notifications() throws(PostgresError) -> [String] {
        guard PQconsumeInput(handle) == 1 else { throw PostgresError(.lost, message) }
        var payloads: [String] = []
        while let notification = PQnotifies(handle) {
            payloads.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return payloads
    }

    // MARK: Sending

    private enum Step {
        case prepare(sql: String, name: String)
        case run
    }

    private func send(_ commands: [SQLCommand]) throws(PostgresError) -> [Step] {
        var steps: [Step] = []
        var names = prepared
        for command in commands {
            if command.isPrepared, names[command.sql] == nil {
                lastName += 1
                let name = "s\(lastName)"
                names[command.sql] = name
                try sent(PQsendPrepare(handle, name, command.sql, 0, nil))
                steps.append(.prepare(sql: command.sql, name: name))
            }
            let count = Int32(command.values.count)
            let code = Connection.withValues(command.values) { values in
                if let name = names[command.sql], command.isPrepared {
                    PQsendQueryPrepared(handle, name, count, values, nil, nil, 0)
                } else {
                    PQsendQueryParams(handle, command.sql, count, nil, values, nil, nil, 0)
                }
            }
            try sent(code)
            steps.append(.run)
        }
        try sent(PQpipelineSync(handle))
        return steps
    }

    private func sent(_ code: Int32) throws(PostgresError) {
        if code != 1 { throw PostgresError(.lost, message) }
    }

    // MARK: Receiving

    /// Reads the whole answer to one step. A step behind one that failed has neither rows nor an error of its own.
    private func answer(
        before deadline: ContinuousClock.Instant?
    ) throws(PostgresError) -> (rows: SQLRows?, problem: PostgresError?) {
        var rows: SQLRows?
        var problem: PostgresError?
        while let result = try next(before: deadline) {
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: rows = SQLRows(result)
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            default:
                let error = error(of: result)
                PQclear(result)
                if PQstatus(handle) == CONNECTION_BAD { throw PostgresError(.lost, error.message) }
                problem = error
            }
        }
        return (rows, problem)
    }

    private func synchronize(before deadline: ContinuousClock.Instant?) throws(PostgresError) {
        guard let result = try next(before: deadline) else { throw PostgresError(.lost, message) }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_PIPELINE_SYNC else { throw PostgresError(.lost, message) }
    }

    private func next(before deadline: ContinuousClock.Instant?) throws(PostgresError) -> OpaquePointer? {
        while true {
            let left = PQflush(handle)
            guard left >= 0 else { throw PostgresError(.lost, message) }
            if left == 0, PQisBusy(handle) == 0 { return PQgetResult(handle) }
            try wait(isWriting: left > 0, before: deadline)
            guard PQconsumeInput(handle) == 1 else { throw PostgresError(.lost, message) }
        }
    }

    private func wait(isWriting: Bool, before deadline: ContinuousClock.Instant?) throws(PostgresError) {
        let left = deadline.map { $0 - .now }
        if let left, let answerTimeout, left <= .zero {
            throw PostgresError(.lost, "no answer within \(answerTimeout.components.seconds) s")
        }
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN | (isWriting ? POLLOUT : 0)), revents: 0)
        _ = poll(&descriptor, 1, left.map { Int32(clamping: $0.wholeMilliseconds + 1) } ?? -1)
    }

    private func error(of result: OpaquePointer) -> PostgresError {
        // The keys are macros of characters (PG_DIAG_SQLSTATE and others).
        func field(_ key: UInt8) -> String? {
            PQresultErrorField(result, Int32(key)).map { String(cString: $0) }
        }
        let text = field(UInt8(ascii: "M")) ?? message
        guard let state = field(UInt8(ascii: "C")) else { return PostgresError(.lost, text) }
        let detail = field(UInt8(ascii: "D"))
        return PostgresError(.statement(state: state), [text, detail].compactMap { $0 }.joined(separator: ": "))
    }

    /// libpq's last error as one line.
    private var message: String {
        let lines = String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isNewline)
        return lines.map { $0.trimmed() }.joined(separator: "; ")
    }

    // MARK: Strings of C

    private static func withValues<Result>(
        _ values: [[UInt8]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        var bytes: [CChar] = []
        bytes.reserveCapacity(values.reduce(0) { $0 + ($1?.count ?? 0) + 1 })
        let starts = values.map { value -> Int? in
            guard let value else { return nil }
            defer {
                bytes.append(contentsOf: value.lazy.map(CChar.init(bitPattern:)))
                bytes.append(0)
            }
            return bytes.count
        }
        return bytes.withUnsafeBufferPointer { all in
            let pointers = starts.map { start in start.flatMap { at in all.baseAddress.map { $0 + at } } }
            return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
        }
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        withValues(texts.map { Array($0.utf8) } + [nil], body)
    }
}
