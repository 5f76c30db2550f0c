// SPDX-License-Identifier: Apache-2.0

/// Returns a number with its noun: `1 source`, `2 sources`.
public func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
