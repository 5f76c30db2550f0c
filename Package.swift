// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target: language mode 6, warnings as errors, and imports that say what they mean.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // In Swift 6.3.1 this pass of the optimiser miscompiles a value that is changed in one branch before an async function
    // returns it: contrib/compiler has a program that shows it.
    .unsafeFlags(["-Xllvm", "-sil-disable-pass=temp-lvalue-elimination"], .when(configuration: .release)),
]

/// A module with the imports that it may use; Tests/ArchitectureTests holds the same table.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// - Parameter data: folders of what the tests read, which the package need not know.
func tests(_ name: String, _ dependencies: [Target.Dependency], data: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: data, swiftSettings: strict)
}

func system(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// What Tests/FuzzTests feeds with damaged bytes.
let readers: [Target.Dependency] = [
    "VedetteCore", "VedetteText", "VedetteDocument", "VedetteSources", "VedetteHTTP", "VedetteConfig", "VedetteSinks",
]

let package = Package(
    name: "vedette",
    products: [.executable(name: "vedette", targets: ["vedette"])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: [
        system("CXML2", "libxml-2.0", "libxml2-dev"),
        system("CGObject", "gobject-2.0", "libglib2.0-dev"),
        system("CPCRE2", "libpcre2-8", "libpcre2-dev"),
        system("CZlib", "zlib", "zlib1g-dev"),
        system("CCrypto", "libcrypto", "libssl-dev"),
        .systemLibrary(name: "CSystem"),
        // simdjson before 3.10, as Ubuntu 24.04 has it, names members that its template lacks: clang 19 and later refuse that
        // already where they read a template, and not only where it is used.
        .target(
            name: "CSimdjson", cxxSettings: [.unsafeFlags(["-fdelayed-template-parsing"])],
            linkerSettings: [.linkedLibrary("simdjson")]),
        // Libraries that are loaded at their first call: the header, and a list of the functions that are used.
        .target(name: "CDelayLoad"),
        .target(name: "CCurl", dependencies: ["CDelayLoad"]),
        .target(name: "CPQ", dependencies: ["CDelayLoad"]),
        .target(name: "CNotify", dependencies: ["CDelayLoad", "CGObject"]),
        .target(name: "CMicrohttpd", dependencies: ["CDelayLoad"]),

        .target(name: "VedetteCore", swiftSettings: strict),
        module("VedetteSystem", ["CSystem"]),
        module("VedetteText", ["VedetteCore", "CPCRE2"]),
        module("VedetteDocument", ["CXML2", "CSimdjson"]),
        module("VedetteHTTP", ["VedetteCore", "VedetteSystem", "CCurl", "CZlib", "CCrypto"]),
        module("VedetteSources", ["VedetteCore", "VedetteDocument"]),
        module("VedetteSinks", ["VedetteCore", "VedetteSystem", "CCrypto"]),
        module("VedetteDesktop", ["VedetteCore", "VedetteSystem", "CNotify"]),
        module(
            "VedetteJournal",
            [
                "VedetteCore", "VedetteSystem", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        module("VedettePostgres", ["VedetteCore", "VedetteSystem", "CPQ"]),
        module(
            "VedetteConfig", ["VedetteCore", "VedetteSystem", "VedetteText", .product(name: "Yams", package: "Yams")]),
        module("VedetteEngine", ["VedetteCore"]),
        module("VedettePage", ["VedetteCore", "VedetteSystem", "CMicrohttpd"]),
        .executableTarget(
            name: "vedette",
            dependencies: [
                "VedetteCore", "VedetteSystem", "VedetteText", "VedetteDocument", "VedetteHTTP", "VedetteSources",
                "VedetteSinks", "VedetteDesktop", "VedetteJournal", "VedettePostgres", "VedetteConfig", "VedetteEngine",
                "VedettePage", "CDelayLoad",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Documentation.docc"],
            swiftSettings: strict
        ),

        // What several test targets share. The program does not use it.
        module("VedetteTestSupport", ["VedetteCore"]),

        tests("VedetteCoreTests", ["VedetteCore", "VedetteTestSupport"]),
        tests("VedetteSystemTests", ["VedetteSystem"]),
        tests("VedetteRulesTests", ["VedetteCore", "VedetteText", "VedetteTestSupport"]),
        tests("VedetteTextTests", ["VedetteCore", "VedetteText"]),
        tests("VedetteDocumentTests", ["VedetteDocument", "VedetteTestSupport"]),
        tests(
            "VedetteHTTPTests", ["VedetteCore", "VedetteSystem", "VedetteHTTP", "VedetteEngine", "VedetteTestSupport"],
            data: ["Servers"]),
        tests(
            "VedetteSourcesTests",
            ["VedetteCore", "VedetteEngine", "VedetteSources", "VedetteText", "VedetteTestSupport"],
            data: ["Corpus"]),
        tests(
            "VedetteSinksTests",
            [
                "VedetteCore", "VedetteSystem", "VedetteSinks", "VedetteDesktop", "VedetteText", "VedetteHTTP",
                "VedetteTestSupport",
            ]),
        tests(
            "VedetteJournalTests",
            [
                "VedetteCore", "VedetteJournal", "VedettePostgres", "VedetteTestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests("VedetteConfigTests", ["VedetteCore", "VedetteText", "VedetteConfig", "VedetteTestSupport"]),
        tests("VedetteEngineTests", ["VedetteCore", "VedetteEngine", "VedetteJournal", "VedetteTestSupport"]),
        tests("VedettePageTests", ["VedetteCore", "VedetteSystem", "VedettePage", "VedetteTestSupport"]),
        tests("FuzzTests", readers + ["VedetteTestSupport"], data: ["Regressions"]),
        tests(
            "ProgramTests",
            [
                "VedetteCore", "VedetteConfig", "VedetteDesktop", "VedetteDocument", "VedettePage", "VedettePostgres",
                "VedetteSystem", "VedetteTestSupport", "vedette",
            ]),
        tests("ArchitectureTests", []),
        tests("EndToEndTests", ["VedetteTestSupport"]),
    ],
    cxxLanguageStandard: .cxx17
)

// What contrib/bench measures inside one process.
if Context.environment["VEDETTE_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "vedette-parts", dependencies: ["VedetteCore", "VedetteSources", "VedetteSystem"],
            path: "contrib/bench/inside", swiftSettings: strict))
}

// The program of contrib/fuzz: libFuzzer brings its `main`, so it can be linked in such a build alone.
if Context.environment["VEDETTE_FUZZ"] != nil {
    package.targets.removeAll { $0.name == "FuzzTests" }
    package.targets.append(
        .executableTarget(
            name: "vedette-fuzz", dependencies: readers, path: "Tests/FuzzTests/Readers",
            swiftSettings: strict + [.define("FUZZER")]))
}
