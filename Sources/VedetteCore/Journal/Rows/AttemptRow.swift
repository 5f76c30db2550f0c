// SPDX-License-Identifier: Apache-2.0

/// How both stores keep a failed attempt of a delivery.
public enum AttemptRow {
    /// The columns that are decoded.
    public static let columns = "state, number, due, at, reason"

    /// Reads a row of these columns; nil for one with a state that no delivery has.
    public static func decode(_ row: some StoredRow, of delivery: Int64) throws(UnreadableRow) -> Attempt? {
        guard let state = DeliveryState(rawValue: try row.text(0)) else { return nil }
        return Attempt(
            delivery: delivery, state: state, attempts: try row.int(1), due: try row.time(2), at: try row.time(3),
            reason: try row.optionalText(4))
    }
}
