// swift-tools-version: 6.3
import PackageDescription

/// Every target of our own is held to the same rules.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(of name: String, _ more: [Target.Dependency] = []) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: [.byName(name: name)] + more, swiftSettings: strict)
}

let package = Package(
    name: "lanekeeper",
    products: [
        .library(name: "CardRules", targets: ["CardRules"]),
        // The rooms as they are, for `Benchmarks/`, which drives them.
        .library(
            name: "Rooms",
            targets: [
                "CardRules", "PushWire", "Lanes", "PushPool", "LaneStore", "Intake", "Operations", "Simulation", "TLS",
                "Postgres", "PrivatePostgres",
            ]),
        .executable(name: "lanekeeper", targets: ["lanekeeper"]),
    ],
    targets: [
        // The rules: pure, shared with the app.
        // Rounding is in libm, and with nothing but the standard library imported nothing else links it.
        .target(
            name: "CardRules", swiftSettings: strict,
            linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
        room("PushWire", ["CardRules"]),

        // The system that applies them.
        room("Lanes", ["CardRules", "PushWire"]),
        room("PushPool", ["CardRules", "PushWire", "Lanes", "TLS", "HTTP2"]),
        room("LaneStore", ["CardRules", "Lanes", "Postgres", "TLS", "CSQLite"]),
        room("WebServer", ["TLS"]),
        room("Intake", ["CardRules", "PushWire", "Lanes", "WebServer", "Postgres", "TLS"]),
        room("Operations", ["CardRules", "PushWire", "Lanes", "PushPool", "LaneStore", "Intake", "WebServer", "TLS"]),
        room("Simulation", ["CardRules", "PushWire", "Lanes", "TLS", "HTTP2"]),
        .executableTarget(
            name: "lanekeeper",
            dependencies: [
                "CardRules", "PushWire", "Lanes", "PushPool", "LaneStore", "WebServer", "Intake", "Operations",
                "Simulation",
                "TLS", "Postgres", "CCurl",
            ],
            swiftSettings: strict),

        // Thin owners of C libraries.
        room("TLS", ["COpenSSL", "CShims"]),
        room("HTTP2", ["CNghttp2"]),
        room("Postgres", ["CPostgres", "TLS"]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CShims", dependencies: ["COpenSSL"]),

        // A PostgreSQL of the tests' own, for every test target that needs one.
        .target(name: "PrivatePostgres", path: "Tests/PrivatePostgres", swiftSettings: strict),

        // For tests with thousands of connections, one after the other.
        .target(name: "Crowds", path: "Tests/Crowds", swiftSettings: strict),

        tests(of: "CardRules", ["Intake"]),
        tests(of: "PushWire", ["CardRules", "Intake"]),
        tests(of: "Lanes", ["CardRules", "PushWire", "Simulation"]),
        tests(of: "TLS"),
        tests(of: "HTTP2"),
        tests(of: "PushPool", ["CardRules", "PushWire", "Lanes", "TLS", "HTTP2", "Simulation"]),
        tests(of: "LaneStore", ["CardRules", "Lanes", "Postgres", "PushWire", "Simulation", "PrivatePostgres"]),
        tests(of: "WebServer", ["TLS", "Crowds"]),
        tests(of: "Postgres", ["PrivatePostgres"]),
        tests(
            of: "Intake",
            [
                "CardRules", "PushWire", "Lanes", "WebServer", "Postgres", "TLS", "Simulation", "PrivatePostgres",
                "Crowds",
            ]),
        tests(
            of: "Operations",
            ["CardRules", "PushWire", "Lanes", "PushPool", "LaneStore", "Intake", "TLS", "Simulation"]),
        tests(of: "Simulation", ["CardRules", "Intake", "TLS", "HTTP2"]),
        tests(
            of: "lanekeeper",
            [
                "CardRules", "Intake", "Lanes", "LaneStore", "WebServer", "Operations", "Simulation", "TLS", "Postgres",
                "PrivatePostgres",
            ]),
    ]
)
