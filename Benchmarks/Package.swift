// swift-tools-version: 6.3
import PackageDescription

/// The same rules as the package that is measured.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "lanekeeper", path: "..")],
    targets: [
        .executableTarget(
            name: "push-throughput",
            dependencies: [
                .product(name: "CardRules", package: "lanekeeper"), .product(name: "PushPool", package: "lanekeeper"),
            ],
            swiftSettings: strict)
    ]
)
