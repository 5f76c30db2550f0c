// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase
public import Testing

/// The guarantees that a test holds, by their numbers in `Guarantees.md`.
extension Tag {
    @Tag public static var I1: Self
    @Tag public static var I2: Self
    @Tag public static var I3: Self
    @Tag public static var I4: Self
    @Tag public static var I5: Self
    @Tag public static var I6: Self
    @Tag public static var I7: Self
    @Tag public static var I8: Self
    @Tag public static var I9: Self
    @Tag public static var I10: Self
    @Tag public static var I11: Self
    @Tag public static var I12: Self
}
