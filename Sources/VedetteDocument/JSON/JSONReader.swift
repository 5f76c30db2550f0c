// SPDX-License-Identifier: Apache-2.0
import CSimdjson

/// Reads the rows of a JSON document and a few values beside them, in one walk that validates everything (RFC 8259).
///
/// The plan of paths is compiled once, so keep a reader where it is used often. It belongs to one thread or actor at a time. The same path may be given more than once; of members with the
/// same name the last one counts.
public final class JSONReader {
    private let reader: OpaquePointer
    private let items: JSONPath?
    private let itemsAreMembers: Bool
    private let nullIsEmpty: Bool
    private let columns: Int
    private let documentColumns: Int
    private let objectIsRow: Bool
    /// For each column the path inside the elements of an array, nil for a value itself; empty where all are values.
    private let elementPaths: [JSONPath?]

    /// The values of a whole document beside its rows.
    public struct Summary: Sendable {
        public let rows: Int
        /// One cell for each of the reader's `document` paths.
        public let document: [JSONCell]
        public let warnings: [DocumentWarning]
        /// Columns whose path asks a name of an array, so that they are absent.
        public let columnsInLists: [Int]
    }

    /// - Parameters:
    ///   - items: the array whose elements are rows. Without it the root: an array of rows, or an object that is the one row.
    ///   - itemsAreMembers: `items` is an object whose members are rows.
    ///   - columns: paths inside a row. `memberName` is the name of the member that the row is.
    ///   - document: paths from the root, for a status or the next page beside the rows.
    ///   - nullIsEmpty: an items path that leads to null is an empty array, as programs in Go write one, and so is one whose
    ///     last name alone is absent, as programs that turn XML into JSON write one.
    ///   - objectIsRow: an object that the items path leads to is the one row.
    public init(
        items: JSONPath? = nil, itemsAreMembers: Bool = false, columns: [JSONPath], document: [JSONPath] = [],
        nullIsEmpty: Bool = false, objectIsRow: Bool = false, limits: JSONLimits = JSONLimits()
    ) {
        let bounds = cj_limits(
            depth: UInt32(clamping: limits.depth), rows: UInt32(clamping: limits.rows),
            string_bytes: UInt32(clamping: limits.stringBytes))
        // Some hundred bytes, for which Swift itself would trap.
        guard let reader = cj_reader_new(bounds) else { preconditionFailure("no memory for a JSON reader") }
        self.reader = reader
        self.items = items
        self.itemsAreMembers = itemsAreMembers
        self.nullIsEmpty = nullIsEmpty
        self.objectIsRow = objectIsRow
        self.columns = columns.count
        let paths = columns.map { $0.elementSteps.map { JSONPath(steps: $0) } }
        elementPaths = paths.contains { $0 != nil } ? paths : []
        documentColumns = document.count
        add(items ?? .root, inRow: false)
        cj_end_items(reader, itemsAreMembers ? 1 : 0)
        for path in columns {
            if itemsAreMembers, path == .memberName {
                cj_add_member_name(reader)
            } else {
                add(path, inRow: true)
                cj_end_cell(reader)
            }
        }
        let parent = JSONPath(steps: items?.steps.dropLast() ?? [])
        for path in document + [parent] {
            add(path, inRow: false)
            cj_end_cell(reader)
        }
    }

    deinit { cj_reader_free(reader) }

    private func add(_ path: JSONPath, inRow: Bool) {
        cj_begin(reader, inRow ? 1 : 0)
        for var step in path.steps {
            let isIndex = step.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } && (step == "0" || !step.hasPrefix("0"))
            let index = isIndex ? Int64(step) ?? -1 : -1
            step.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { name in
                    // An empty name has no address, but the C function needs one.
                    withUnsafePointer(to: CChar(0)) { cj_step(reader, name.baseAddress ?? $0, name.count, index) }
                }
            }
        }
    }

    /// Reads a whole document and then passes its rows to `row` in order. When the document is broken or `check` throws, `row`
    /// is never called.
    ///
    /// The body grows by 64 bytes while it is read (no copy when it has that capacity), and is replaced by its corrected form
    /// when it contained bad UTF-8 or half a surrogate pair, had a prefix against inclusion as a script, or was lines of objects,
    /// which are read as an array.
    ///
    /// - Parameter check: receives the document cells first, even when the document has no items: a body may itself give the
    ///   reason.
    public func read(
        _ body: inout [UInt8], check: ([JSONCell]) throws -> Void = { _ in },
        row: (borrowing JSONRow) throws -> Void
    ) throws -> Summary {
        let (status, warnings) = try load(&body)
        let rows = cj_row_count(reader)
        let document = try body.withUnsafeBufferPointer { bytes in
            let (document, parent) = documentCells(bytes)
            try check(document)
            if let problem = shapeProblem(status, parent) { throw problem }
            for index in 0..<rows {
                let cells = JSONRow(
                    cells: cj_rows(reader).map { $0 + index * columns }, body: bytes, unescaped: cj_unescaped(reader),
                    index: index, rows: rows, count: columns, isSingle: cj_is_single(reader) == 1,
                    elementPaths: elementPaths)
                try row(cells)
            }
            return document
        }
        return Summary(
            rows: rows, document: document, warnings: warnings,
            columnsInLists: (0..<columns).filter { cj_is_in_list(reader, $0) == 1 })
    }

    /// The values beside the rows, and what the object is in which the items are a member.
    private func documentCells(_ body: UnsafeBufferPointer<UInt8>) -> (cells: [JSONCell], parent: JSONKind) {
        let row = JSONRow(
            cells: cj_document(reader), body: body, unescaped: cj_unescaped(reader), index: 0, rows: 0,
            count: documentColumns + 1, isSingle: false, elementPaths: [])
        var cells: [JSONCell] = []
        for column in 0..<documentColumns { cells.append(row[column]) }
        return (cells, row.kind(documentColumns))
    }

    /// Returns the status of a complete walk: `CJ_OK`, or what is wrong with the items.
    private func load(_ body: inout [UInt8]) throws(DocumentError) -> (status: Int, warnings: [DocumentWarning]) {
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { body.removeFirst(3) }
        if let json = JSONWrapping.withoutPrefix(body) { body = Array(json) }
        try JSONDiagnosis.checkStart(body)
        var status = parse(&body)
        if walkProblem(status, body)?.kind == .syntax, let array = JSONWrapping.lines(body) {
            body = array
            status = parse(&body)
        }
        guard let error = walkProblem(status, body) else { return (status, []) }
        guard error.kind == .encoding, let repaired = JSONRepair.repair(body) else { throw error }
        body = repaired.body
        let secondStatus = parse(&body)
        if let error = walkProblem(secondStatus, body) { throw error }
        return (secondStatus, repaired.warnings)
    }

    /// Walks the document. Cells are offsets, so they stay valid when the padding is removed and when the array moves.
    private func parse(_ body: inout [UInt8]) -> Int {
        let count = body.count
        // simdjson reads past the end and interprets those bytes, so they must be zero.
        body.append(contentsOf: repeatElement(0, count: Int(CJ_PADDING)))
        let status = body.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { Int(cj_read(reader, $0, count)) } ?? CJ_SYNTAX
        }
        body.removeLast(Int(CJ_PADDING))
        return status
    }

    private func shapeProblem(_ status: Int, _ parent: JSONKind) -> DocumentError? {
        let place = items.map { $0 == .root ? "the root" : "items path '\($0)'" } ?? "the root"
        let container = itemsAreMembers ? "an object" : "an array"
        let what: String
        switch status {
        // Of a member of the root that is absent nothing shows that the document is the right one.
        case CJ_ITEMS_MISSING where items.map({ $0.steps.count > 1 }) == true && [.null, .object].contains(parent):
            if nullIsEmpty { return nil }
            what = "leads nowhere in the JSON document; 'null_is_empty: true' reads an empty list"
        case CJ_ITEMS_MISSING where parent == .array && items?.steps.last?.utf8.allSatisfy(\.isDigit) == false:
            let list = JSONPath(steps: items?.steps.dropLast() ?? [])
            let name = list == .root ? "the root" : "'\(list)'"
            what = "leads nowhere, since \(name) is an array, whose elements are named by their places from 0"
        case CJ_ITEMS_MISSING: what = "leads nowhere in the JSON document"
        case CJ_ITEMS_NULL where nullIsEmpty: return nil
        case CJ_ITEMS_NULL: what = "leads to null, not to \(container); 'null_is_empty: true' reads an empty list"
        case CJ_ITEMS_OBJECT where objectIsRow: return nil
        case CJ_ITEMS_OBJECT: what = "leads to an object, not to an array; rows are the elements of an array"
        case CJ_ITEMS_SCALAR: what = "leads to a single value, not to \(container)"
        case CJ_ITEMS_ARRAY: what = "leads to an array, not to an object; rows are the members of an object"
        default: return nil
        }
        return DocumentError(.wrongShape, "\(place) \(what)")
    }

    private func walkProblem(_ status: Int, _ body: [UInt8]) -> DocumentError? {
        switch status {
        case CJ_OK, CJ_ITEMS_MISSING, CJ_ITEMS_NULL, CJ_ITEMS_OBJECT, CJ_ITEMS_SCALAR, CJ_ITEMS_ARRAY: nil
        case CJ_TOO_DEEP: DocumentError(.tooDeep, "the JSON is nested deeper than the limit")
        case CJ_TOO_MANY_ROWS: DocumentError(.tooLarge, "the JSON has more rows than the limit")
        case CJ_STRING_TOO_LONG: DocumentError(.tooLarge, "a JSON string is longer than the limit")
        case CJ_DOCUMENT_TOO_LONG: DocumentError(.tooLarge, "the JSON document is larger than 4 GiB")
        case CJ_MEMORY: DocumentError(.tooLarge, "there is not enough memory for the JSON document")
        default: JSONDiagnosis.explain(body)
        }
    }
}
